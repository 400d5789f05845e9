"""A teacher that is moved, frozen, to another data set or another student (appendix B).

The paper's W_I are coordinates of one student's internal states; moved to another they mean nothing,
and the student learns next to nothing. The margin teacher (σ(c·m + b), with m the margin to trusted
class means) has no such coordinates; both stand in the same table. The paper moves a teacher on
clean labels only, where a good teacher can do little; the columns with flip noise are ours.
"""

from reweigh.config import MethodConfig, RunConfig
from reweigh.paper.cell import NOT_IN_PAPER, TEACHER, Cell, Origin, Published, Recipe, Scale
from reweigh.paper.scales import CAPTIONS, CHOICES, Data, Student, called, clean, deep, named, noisy

NOISE = "flip:0.4"
MOVED = f"{TEACHER}, moved"
PUBLISHED: dict[tuple[Data, Student], dict[str, float]] = {
    ("cifar100", "resnet32"): {"Baseline": 29.57, TEACHER: 28.65, MOVED: 92.45},
    ("cifar10", "resnet110"): {"Baseline": 6.38, TEACHER: 5.65, MOVED: 57.97},
}
"""Test error in percent, on clean labels; the first two are Table 1's."""


def cells(scale: Scale) -> list[Cell]:
    """Four rows; two moves, on clean labels and under noise."""
    return [
        _cell(scale, data, student, noise, row)
        for noise in ("none", NOISE)
        for data, student in PUBLISHED
        for row in ("Baseline", TEACHER, MOVED, "margin teacher, moved")
    ]


def _cell(scale: Scale, data: Data, student: Student, noise: str, row: str) -> Cell:
    value = PUBLISHED[data, student].get(row) if noise == "none" else None
    methods = {
        "Baseline": named(scale, "uniform"),
        "margin teacher, moved": deep(teacher="margin"),
    }
    method = methods.get(row, deep())
    under = "" if noise == "none" else ", 40% flip"
    moved = row.endswith("moved")
    return Cell(
        row,
        f"to {called(scale, data, student)}{under}",
        (_settings(scale, data, student, noise, method),),
        Published(value) if value is not None else None,
        NOT_IN_PAPER if value is None else "",
        _home_of_teacher(scale, noise, method) if moved else None,
        f"to {called('full', data, student)}{under}",
    )


def _settings(
    scale: Scale, data: Data, student: Student, noise: str, method: MethodConfig
) -> RunConfig:
    if noise == "none":
        return clean(scale, data, student, method)
    return noisy(scale, data, student, noise, method)


def _home_of_teacher(scale: Scale, noise: str, method: MethodConfig) -> Origin:
    """Where the teacher learned: CIFAR-10 and ResNet-32."""
    learned = _settings(scale, "cifar10", "resnet32", noise, method)
    return Origin(learned, "method", "teacher_from")


RECIPE = Recipe(
    "transfer",
    "A frozen teacher, moved from CIFAR-10 and ResNet-32",
    "appendix B",
    cells,
    CAPTIONS,
    (
        *CHOICES,
        "labels that the moved teacher never saw keep the embedding that it started with, zero",
        "a frozen teacher that keeps class means still follows the new student's trusted samples",
        "the margin teacher and the columns with noise are not in the paper",
    ),
)
