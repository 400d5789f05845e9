"""What a recipe is made of: cells with complete settings, and the value that was published.

A cell has several settings where the paper searched a setting: the trusted set then chooses, seed by
seed. Settings that begin from another run (its teacher, its student) name it by `Origin`; which folder
that is, is known when the table is run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from reweigh.config import Settings
from reweigh.config.methods import trains_on_trusted
from reweigh.config.writing import plain_values

Scale = Literal["tiny", "cpu", "full"]

PAPER = "the paper"
POSTER = "Meta-Weight-Net's poster"
NOT_IN_PAPER = "not in the paper"
TEACHER = "the paper's teacher"
"""The row that the paper calls Ours; here ours is what this package measured."""


@dataclass(frozen=True)
class Published:
    """A value that somebody printed, in percent or BLEU."""

    value: float
    source: str = PAPER


@dataclass(frozen=True)
class Origin:
    """The run that a run begins from, and the setting that names its folder."""

    settings: Settings
    section: Literal["method", "student"]
    key: Literal["teacher_from", "start"]


@dataclass(frozen=True)
class Cell:
    """One place of a table."""

    row: str
    column: str
    """The data and the student that are trained here."""
    settings: tuple[Settings, ...]
    """Complete apart from seed and origin; none where the cell cannot be run."""
    published: Published | None = None
    why: str = ""
    """Why a value is missing, ours or theirs; empty where none is."""
    origin: Origin | None = None
    stands_for: str = ""
    """The paper's column in whose place this one stands; empty where it is the same."""

    @property
    def columns(self) -> tuple[str, str]:
        """Its column, here and in the paper."""
        return self.column, self.stands_for or self.column

    @property
    def terms(self) -> dict[str, Any]:
        """What is trained, for how long; all None where nothing can be run."""
        if not self.settings:
            return {"data": None, "student": None, "epochs": None}
        one = self.settings[0]
        return {
            "data": one.data.name,
            "student": one.student.model,
            "epochs": one.training.epochs,
        }

    @property
    def on_trusted(self) -> bool:
        """Whether it trains on trusted samples as well as on those in doubt."""
        mixed = [s.method for s in self.settings if s.method.name != "trusted-only"]
        return any(trains_on_trusted(plain_values(method)) for method in mixed)

    @property
    def plain(self) -> bool:
        """Plain training: what the cost of other rows that begin alike is measured in."""
        return any(s.method.name == "uniform" for s in self.settings)

    @property
    def length(self) -> tuple[str, bool]:
        """Rows whose costs compare: of one column, and all trained from scratch or all fine-tuned."""
        return self.column, self.origin is not None and self.origin.section == "student"


@dataclass(frozen=True)
class Recipe:
    """One table or figure of the paper."""

    name: str
    title: str
    place: str
    """Where it stands in the paper."""
    cells: Callable[[Scale], Sequence[Cell]]
    captions: Mapping[Scale, str]
    """What is trained at each scale."""
    choices: tuple[str, ...] = ()
    """What we chose where the paper is silent."""
    measure: Literal["error", "BLEU"] = "error"
    figure: bool = False
    """A figure: a report page is written beside the runs."""
