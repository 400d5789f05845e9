"""New runs join finished ones only where the settings still mean the same data and the same code.

A run is known by its settings, and settings name files and modules: what is in them may have
changed since.
"""

from collections.abc import Iterable
from pathlib import Path

from reweigh.config import Settings
from reweigh.errors import UsageError
from reweigh.own_code import code_of, named_in
from reweigh.training.kept_result import kept_result
from reweigh.training.same_data import learned_from_other
from reweigh.training.tasks import forget_problems, prepared


def refuse_changed(finished: Iterable[tuple[Settings, Path]]) -> None:
    """Nothing is run, and nothing lost, where the settings mean something else than they did then."""
    forget_problems()
    for config, home in sorted(finished, key=lambda run: run[0].seed):  # each seed is read once
        if learned_from_other(home, prepared(config)):
            raise _changed(
                home, f"trained on data that {config.data.name} no longer gives", "the data"
            )
        code = kept_result(home).get("code")
        if code and code != code_of(config):
            own = " or ".join(named_in(config))
            raise _changed(home, f"made with another version of {own}", "that version")


def _changed(home: Path, how: str, what: str) -> UsageError:
    return UsageError(
        f"{home} was {how}, so it cannot be compared with new runs. Restore {what}, or choose a new --out."
    )
