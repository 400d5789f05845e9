"""The ablations on CIFAR-10 and ResNet-32: features, levels, depth, deeper interaction, K and B."""

from reweigh.config import MethodConfig
from reweigh.paper.cell import Cell, Published, Recipe, Scale
from reweigh.paper.scales import CAPTIONS, CHOICES, called, clean, deep, named

FEATURES = {
    "I0 + M0": (6.20, ("I0", "M0")),
    "I0": (6.34, ("I0",)),
    "M0": (6.50, ("M0",)),
    "M1": (6.54, ("M1",)),
    "M0 + M1": (6.50, ("M0", "M1")),
    "I0 + M0 + M1": (6.30, ("I0", "M0", "M1")),
}
LEVELS = {"0": 6.20, "1": 6.22, "2": 6.31, "3": 6.21}
LAYERS = {0: 6.20, 1: 6.48, 2: 6.59}
STEPS = {(1, 1): 6.56, (20, 2): 6.20, (20, 5): 6.41, (100, 2): 6.30, (100, 5): 6.24}


def _table(scale: Scale, rows: dict[str, tuple[float, MethodConfig]]) -> list[Cell]:
    """Plain training first, then one row a teacher."""
    everything = {"Baseline": (7.22, named(scale, "uniform"))} | rows
    column, paper = (called(s, "cifar10", "resnet32") for s in (scale, "full"))
    return [
        Cell(
            row,
            column,
            (clean(scale, "cifar10", "resnet32", method),),
            Published(value),
            stands_for=paper,
        )
        for row, (value, method) in everything.items()
    ]


def features(scale: Scale) -> list[Cell]:
    """What the teacher sees: internal states, the label, surface information."""
    return _table(scale, {row: (v, deep(features=f)) for row, (v, f) in FEATURES.items()})


def levels(scale: Scale) -> list[Cell]:
    """From which layer the internal states are taken."""
    rows = {f"I{i} + M0": (v, deep(features=(f"I{i}", "M0"))) for i, v in LEVELS.items()}
    return _table(scale, rows)


def teacher(scale: Scale) -> list[Cell]:
    """How many hidden layers the teacher has."""
    rows = {f"MLP-{n}": (v, deep(teacher="mlp", hidden_layers=n)) for n, v in LAYERS.items()}
    return _table(scale, rows)


def deeper(scale: Scale) -> list[Cell]:
    """∂w/∂θ = 0 against ∂w/∂θ ≠ 0."""
    rows = {"∂w/∂θ = 0": (6.20, deep()), "∂w/∂θ ≠ 0": (6.08, deep(deeper=True))}
    return _table(scale, rows)


def steps(scale: Scale) -> list[Cell]:
    """Every how many steps K the teacher learns, through how many B."""
    rows = {
        f"K = {k}, B = {b}": (value, deep(every=k, through=b)) for (k, b), value in STEPS.items()
    }
    return _table(scale, rows)


RECIPES = (
    Recipe(
        "features",
        "What the teacher sees",
        "Table 2",
        features,
        CAPTIONS,
        (*CHOICES, "M1: the three scalars, the predicted label one-hot and the margin, unscaled"),
    ),
    Recipe(
        "levels",
        "Internal states from different levels",
        "Table 3",
        levels,
        CAPTIONS,
        (*CHOICES, "I1, I2, I3: maps are averaged over their pixels before the teacher sees them"),
    ),
    Recipe("teacher", "Teachers with hidden layers", "Table 4", teacher, CAPTIONS, CHOICES),
    Recipe("deeper", "Deeper interaction", "section Analysis", deeper, CAPTIONS, CHOICES),
    Recipe("steps", "K and B", "appendix A", steps, CAPTIONS, CHOICES),
)
