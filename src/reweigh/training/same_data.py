"""Finished runs are judged on the data that they learned from, and compared only with runs on the same.

A run is known by its settings, and settings name files and modules: what is in them may have
changed since.
"""

from collections.abc import Iterable
from pathlib import Path

from reweigh.config import Settings
from reweigh.errors import DataError, UsageError
from reweigh.methods import AnyProblem
from reweigh.own_code import code_of, named_in
from reweigh.training.result import RESULT
from reweigh.training.run_folder import read_record
from reweigh.training.tasks import forget_problems, prepared
from reweigh.training.tasks.base import fingerprint


def refuse_changed(finished: Iterable[tuple[Settings, Path]]) -> None:
    """Nothing is run, and nothing lost, where the settings mean something else than they did then."""
    forget_problems()
    for config, home in sorted(finished, key=lambda run: run[0].seed):  # each seed is read once
        kept = read_record(home / RESULT)
        if learned_from_other(home, prepared(config)):
            raise _changed(
                home, f"trained on data that {config.data.name} no longer gives", "the data"
            )
        if kept.get("code") and kept["code"] != code_of(config):
            own = " or ".join(named_in(config))
            raise _changed(home, f"made with another version of {own}", "that version")


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
    return str(read_record(home / RESULT).get("fingerprint", ""))


def _changed(home: Path, how: str, what: str) -> UsageError:
    return UsageError(
        f"{home} was {how}, so it cannot be compared with new runs. Restore {what}, or choose a new --out."
    )
