"""The figure of the weights: a teacher on surface features beside one on internal states."""

from reweigh.paper.cell import Cell, Recipe, Scale
from reweigh.paper.scales import CAPTIONS, CHOICES, called, clean, deep

TEACHERS = {"T0: surface features M1": ("M1",), "T1: internal states I0 + M0": ("I0", "M0")}


def cells(scale: Scale) -> list[Cell]:
    """Two runs, whose weights, losses and states the report draws."""
    return [
        Cell(
            row,
            called(scale, "cifar10", "resnet32"),
            (clean(scale, "cifar10", "resnet32", deep(features=features)),),
            why="the paper shows a figure",
            stands_for=called("full", "cifar10", "resnet32"),
        )
        for row, features in TEACHERS.items()
    ]


RECIPE = Recipe(
    "weights",
    "Weights against losses, and internal states",
    "Figure 2",
    cells,
    CAPTIONS,
    (*CHOICES, "weights of the last epoch, states by PCA or t-SNE of the report"),
    figure=True,
)
