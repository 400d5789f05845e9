"""All recipes by name."""

from difflib import get_close_matches

from reweigh.errors import UsageError
from reweigh.paper import ablations, noise, table1, transfer, translation, weights
from reweigh.paper.cell import Recipe

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        table1.RECIPE,
        *ablations.RECIPES,
        weights.RECIPE,
        *noise.RECIPES,
        translation.RECIPE,
        transfer.RECIPE,
    )
}
"""In the order of the paper."""


def find(name: str) -> Recipe:
    """The recipe of that name."""
    if name not in RECIPES:
        near = get_close_matches(name, RECIPES, n=2, cutoff=0.4) or list(RECIPES)
        raise UsageError(f"No recipe {name!r}; did you mean {' or '.join(near)}?")
    return RECIPES[name]
