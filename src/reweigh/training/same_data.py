"""Whether a finished run learned from this data: it is known by a fingerprint kept in its result."""

from pathlib import Path

from reweigh.config import Settings
from reweigh.errors import DataError
from reweigh.methods import AnyProblem
from reweigh.training.kept_result import kept_result
from reweigh.training.tasks.base import fingerprint


def learned_from_other(home: Path, problem: AnyProblem) -> bool:
    """Whether a finished run learned from other data than `problem`; not where nobody took a print."""
    kept = _kept(home)
    return bool(kept) and kept != fingerprint(problem)


def refuse_other(home: Path, config: Settings, problem: AnyProblem) -> None:
    """A run is judged on the data that it was trained on, or every row would be about another.

    Where nobody took a print, nobody can tell, and that is refused, too.
    """
    if _kept(home) != fingerprint(problem):
        raise DataError(
            f"{config.data.name} no longer gives the samples that {home} was trained on; restore the "
            "data, or train again."
        )


def _kept(home: Path) -> str:
    """The fingerprint of the data that a finished run learned from; empty where nobody took it."""
    return str(kept_result(home).get("fingerprint", ""))
