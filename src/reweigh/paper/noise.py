"""The noise tables: uniform noise on WRN-28-10, flip noise on ResNet-32."""

from reweigh.paper.cell import NOT_IN_PAPER, PAPER, POSTER, TEACHER, Cell, Published, Recipe, Scale
from reweigh.paper.scales import CAPTIONS, CHOICES, SHOWN, Data, Student, called, named, noisy

Column = tuple[Data, str]

ROWS: dict[str, tuple[str, ...]] = {
    "Baseline": ("uniform",),
    "MentorNet (DD)": ("mentornet-dd",),
    "MentorNet (PD)": ("mentornet-pd",),
    "Meta-Weight-Net": ("meta-weight-net",),
    TEACHER: ("deep-linear",),
    "SPL": ("self-paced",),
    "Focal loss": ("focal-0.5", "focal", "focal-2"),
    "L2RW": ("learning-to-reweight",),
    "GLC": ("gold-loss-correction",),
    "interaction teacher": ("deep-interaction",),
    "default of this package": ("deep",),
    "trusted set alone": ("trusted-only",),
    "trusted mixed in": ("trusted-mixed",),
    "perfect weights": ("perfect-weights",),
    "perfect weights with trusted mixed in": ("perfect-mixed",),
    "clean labels": ("clean-labels",),
}
"""The paper's four, what its source has beside them, ours, and the controls."""

UNIFORM: dict[Column, dict[str, tuple[float, ...]]] = {
    ("cifar10", "uniform:0.4"): {
        PAPER: (31.93, 12.67, 10.73, 10.29), POSTER: (13.59, 24.04, 13.08, 11.72),
    },
    ("cifar10", "uniform:0.6"): {
        PAPER: (46.88, 17.20, 15.93, 15.37), POSTER: (46.90, 48.13, 17.76, 16.51),
    },
    ("cifar100", "uniform:0.4"): {
        PAPER: (48.89, 38.61, 32.27, 31.36), POSTER: (53.69, 48.81, 39.21, 38.69),
    },
    ("cifar100", "uniform:0.6"): {
        PAPER: (69.08, 63.13, 41.25, 40.62), POSTER: (80.92, 72.30, 51.85, 49.19),
    },
}  # fmt: skip
FLIP: dict[Column, dict[str, tuple[float, ...]]] = {
    ("cifar10", "flip:0.2"): {
        PAPER: (23.17, 13.64, 9.67, 8.95), POSTER: (12.97, 13.55, 12.14, 10.32),
    },
    ("cifar10", "flip:0.4"): {
        PAPER: (29.23, 18.24, 12.46, 11.29), POSTER: (18.37, 19.55, 14.34, 11.08),
    },
    ("cifar100", "flip:0.2"): {
        PAPER: (49.14, 38.03, 35.78, 33.92), POSTER: (36.37, 38.13, 42.53, 36.93),
    },
    ("cifar100", "flip:0.4"): {
        PAPER: (56.99, 47.34, 41.36, 39.49), POSTER: (46.49, 45.87, 49.02, 37.78),
    },
}  # fmt: skip
_ORDER = {
    PAPER: ("Baseline", "MentorNet (DD)", "Meta-Weight-Net", TEACHER),
    POSTER: ("SPL", "Focal loss", "L2RW", "GLC"),
}
"""Test errors in percent, in this order; the poster gives accuracies."""

_WHY = {"MentorNet (PD)": "the paper has one MentorNet: see DD"}


def _table(
    scale: Scale, student: Student, values: dict[Column, dict[str, tuple[float, ...]]]
) -> list[Cell]:
    return [
        _cell(scale, student, column, row, _published(sources, row))
        for column, sources in values.items()
        for row in ROWS
    ]


def _published(sources: dict[str, tuple[float, ...]], row: str) -> Published | None:
    for source, rows in _ORDER.items():
        if row in rows:
            return Published(sources[source][rows.index(row)], source)
    return None


def _cell(
    scale: Scale, student: Student, column: Column, row: str, published: Published | None
) -> Cell:
    data, noise = column
    kind, _, rate = noise.partition(":")
    methods = [named(scale, name) for name in ROWS[row]]
    under = f"{float(rate):.0%} {kind}"
    paper = f"{SHOWN[data]}, {under}"
    return Cell(
        row,
        paper if scale == "full" else f"{called(scale, data, student)}, {under}",
        tuple(noisy(scale, data, student, noise, method) for method in methods),
        published,
        _WHY.get(row, "" if published else NOT_IN_PAPER),
        stands_for=paper,
    )


def uniform(scale: Scale) -> list[Cell]:
    """Each label becomes a random one, its own included, with probability p."""
    return _table(scale, "wrn-28-10", UNIFORM)


def flip(scale: Scale) -> list[Cell]:
    """Each label becomes one of two others of its class with probability p."""
    return _table(scale, "resnet32", FLIP)


_NOISE_CHOICES = (
    *CHOICES,
    "1,000 trusted images (Meta-Weight-Net's), outside the training set; the paper does not say",
    "batches of 128, the paper's; Meta-Weight-Net takes 100",
    "the paper does not say which MentorNet it shows; its value stands beside the data-driven one",
    "the published baseline was trained on a longer schedule than the methods; ours is not",
    "focal: γ of 0.5, 1 and 2, chosen by the trusted set seed by seed; the cost is that of all three",
    "rows that the paper leaves out: four more of its source, our teachers, and five controls",
)

RECIPES = (
    Recipe("uniform", "Uniform noise, WRN-28-10", "Table 5", uniform, CAPTIONS, _NOISE_CHOICES),
    Recipe("flip", "Flip noise, ResNet-32", "Table 6", flip, CAPTIONS, _NOISE_CHOICES),
)
