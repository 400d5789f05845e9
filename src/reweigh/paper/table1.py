"""Table 1: six methods on clean CIFAR-10 and CIFAR-100, three students."""

from reweigh.paper.cell import NOT_IN_PAPER, TEACHER, Cell, Published, Recipe, Scale
from reweigh.paper.scales import CAPTIONS, CHOICES, Data, Student, called, clean, named

ROWS = {
    "Baseline": ("uniform",),
    "L2T-data": ("l2t-data",),
    "L2T-loss": ("l2t-loss",),
    "Focal loss": ("focal-0.5", "focal", "focal-2"),
    "SPL": ("self-paced",),
    TEACHER: ("deep-linear",),
    "trusted mixed in": ("trusted-mixed",),
    "default of this package": ("deep",),
}
"""With the methods of the lineup; the last two are not in the paper."""

PUBLISHED: dict[tuple[Data, Student], tuple[float, ...]] = {
    ("cifar10", "resnet32"): (7.22, 7.16, 6.95, 6.60, 11.48, 6.20),
    ("cifar10", "resnet110"): (6.38, 6.10, 6.02, 6.19, 11.06, 5.65),
    ("cifar10", "wrn-28-10"): (4.27, 4.09, 3.97, 4.57, 4.25, 3.72),
    ("cifar100", "resnet32"): (29.57, 29.54, 29.25, 28.85, 29.98, 28.65),
    ("cifar100", "resnet110"): (27.69, 27.02, 26.61, 26.55, 27.91, 26.02),
    ("cifar100", "wrn-28-10"): (20.49, 19.92, 19.93, 19.86, 20.56, 19.38),
}
"""Test error in percent, in the order of ROWS."""


def cells(scale: Scale) -> list[Cell]:
    """Eight rows, six columns."""
    return [
        _cell(scale, data, student, row, published)
        for (data, student), values in PUBLISHED.items()
        for row, published in zip(ROWS, (*values, None, None), strict=True)
    ]


def _cell(scale: Scale, data: Data, student: Student, row: str, value: float | None) -> Cell:
    methods = [named(scale, name) for name in ROWS[row]]
    return Cell(
        row,
        called(scale, data, student),
        tuple(clean(scale, data, student, method) for method in methods),
        Published(value) if value is not None else None,
        NOT_IN_PAPER if value is None else "",
        stands_for=called("full", data, student),
    )


RECIPE = Recipe(
    "table1",
    "CIFAR-10 and CIFAR-100, clean labels",
    "Table 1",
    cells,
    CAPTIONS,
    (
        *CHOICES,
        "focal: γ of 0.5, 1 and 2, chosen by the trusted set seed by seed; the cost is that of all three",
        "SPL: the easiest share of each class in a batch grows linearly from one sample to all",
        "L2T-data: 10 trainings come before its own (3 at cpu, 1 at tiny), its authors take up to 5000; the "
        "first only sets the marks to reach, so at tiny its policy is the one that it starts with",
        "L2T-loss looks back through 5 steps, its authors through 200",
        "two rows more: the trusted images as training images, and this package's own teacher",
    ),
)
