"""Two runs' students on the same test samples: how many answers turned right, and how many wrong.

Two errors that differ by half a point may stand for five changed answers or for five hundred. The
count says which; it is information, and no choice rests on it.
"""

from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from reweigh.audit.opened import judge_of
from reweigh.config import RunConfig
from reweigh.run_files import student_file
from reweigh.training.evaluate import predictions
from reweigh.training.start import load_student
from reweigh.training.tasks import prepared
from reweigh.training.tasks.classification import Classification


@dataclass(frozen=True)
class Paired:
    """Test answers of a run's last student beside those of another."""

    newly_right: int
    newly_wrong: int
    samples: int

    def __str__(self) -> str:
        return (
            f"On the test set, which decides nothing, {self.newly_right:,} of {self.samples:,} answers "
            f"became right and {self.newly_wrong:,} wrong."
        )


def paired(config: RunConfig, before: Path, after: Path) -> Paired:
    """The students of the last epochs in two folders, on the test set of the settings of the first."""
    task = judge_of(config, prepared(config))
    assert isinstance(task, Classification)
    was, is_now = (_right(task, student_file(folder, last=True)) for folder in (before, after))
    return Paired(
        newly_right=int((is_now & ~was).sum()),
        newly_wrong=int((was & ~is_now).sum()),
        samples=len(task.test),
    )


def _right(task: Classification, student: Path) -> Tensor:
    """Whether each test answer is right, (n,) bool."""
    load_student(task.student, student)
    return predictions(task.student, task.test, task.forward) == task.test.labels
