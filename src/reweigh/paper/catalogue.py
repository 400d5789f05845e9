"""All recipes by name."""

from reweigh.errors import UsageError
from reweigh.nearest import nearest
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
        raise UsageError(f"No recipe {name!r}{nearest(name, RECIPES)}")
    return RECIPES[name]
