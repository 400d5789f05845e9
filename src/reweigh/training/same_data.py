"""Finished runs stand in a table beside new ones only if both learned from the same data.

A run is known by its settings, and settings name files: what is in them may have changed since.
"""

from collections.abc import Iterable
from pathlib import Path

from reweigh.config import Settings
from reweigh.errors import UsageError
from reweigh.training.result import RESULT
from reweigh.training.run_folder import read_record
from reweigh.training.tasks import forget_problems, prepared


def refuse_other_data(finished: Iterable[tuple[Settings, Path]]) -> None:
    """Nothing is run, and nothing lost, where the settings give other data than they gave then."""
    forget_problems()
    for config, home in sorted(finished, key=lambda run: run[0].seed):  # each seed is read once
        kept = read_record(home / RESULT).get("fingerprint")
        if kept and kept != prepared(config).record.get("fingerprint"):
            raise UsageError(
                f"{home} was trained on other data than {config.data.name} and its settings give now, "
                "and would not compare with new runs: restore the data, or give --out a new folder."
            )
