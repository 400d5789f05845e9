"""The finished runs of some folders, each once, and what is to be said of those left out."""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os.path import normpath
from pathlib import Path
from typing import Any

from reweigh.comparing.reading_tables import homes_in, why_missing
from reweigh.config.differences import told_apart
from reweigh.config.writing import defining, experiment, row_in
from reweigh.errors import UsageError
from reweigh.report.runs import Run
from reweigh.run_files import CONFIG, ENVIRONMENT, STATUS
from reweigh.training.kept_result import kept_result
from reweigh.training.run import refuse_unfinished
from reweigh.training.run_records import read_metrics, read_record, read_text, read_toml

_FREE = {"labels", "true_labels", "drop", "dir", "seed"}
"""Settings of the data in which runs may differ and still compare: what a second pass changes."""


@dataclass(frozen=True)
class Found:
    """What some folders hold."""

    runs: list[Run]
    remarks: tuple[str, ...] = ()
    """Which runs were left out, and why; which count as seeds and are none."""


def read_runs(folders: Sequence[Path]) -> Found:
    """The finished runs in these folders, each a run's own or one that holds several."""
    homes = {
        home.resolve(): (home, why) for folder in folders for home, why in _homes(folder).items()
    }
    read = [_read(home, given) for home, (given, why) in homes.items() if why is None]
    first = {run.result["run_id"]: run for run in reversed(read)}
    for run in read:
        _refuse_edited(first[run.result["run_id"]], run)
    runs = [run for run in read if first[run.result["run_id"]] is run]
    _refuse_mixed(runs)
    lost = {home.name: why for home, (_, why) in homes.items() if why}
    missing = [f"{name} is missing: {why.rstrip('.')}" for name, why in lost.items()]
    return Found(_told_apart(runs), (*missing, *_repeats(read, first), *_one_seed(runs)))


def _refuse_edited(first: Run, run: Run) -> None:
    """Of the same settings; a file that they name may have been edited between the two."""
    a, b = (one.result.get("fingerprint") for one in (first, run))
    if a and b and a != b:
        raise UsageError(
            f"{first.folder.name} and {run.folder.name} have the same settings and learned from different "
            "data, edited in between: they do not compare; make a report of each."
        )


def _repeats(read: Sequence[Run], first: dict[str, Run]) -> Iterator[str]:
    """Copies of a run: they are no further seeds."""
    for run in read:
        if (other := first[run.result["run_id"]]) is not run:
            names = f"{run.folder.name} repeats {other.folder.name}"
            yield f"{names} (the same settings and the same seed) and is left out"


def _homes(folder: Path) -> dict[Path, str | None]:
    """Folders of runs, and why one is missing: a mean over those that survived is another figure."""
    if (folder / "config.toml").is_file():
        refuse_unfinished(folder)
        return {folder: None}
    homes = {home: why_missing(home) for home in homes_in(folder)}
    if all(homes.values()):
        raise UsageError(f"{folder} holds no finished run: neither it nor a folder in it.")
    return homes


def _told_apart(runs: Sequence[Run]) -> list[Run]:
    """With names such that no row averages over different settings."""
    names = told_apart([run.row for run in runs], [defining(run.settings) for run in runs])
    called = _called(runs)
    return [
        replace(run, row=f"{run.row} ({folder})" if folder and name != run.row else name)
        for run, name, folder in zip(runs, names, called, strict=True)
    ]


def _called(runs: Sequence[Run]) -> list[str | None]:
    """What people call an experiment: its first run's folder, where those differ."""
    kinds = [experiment(run.settings) for run in runs]
    folders = {kind: run.folder.name for kind, run in zip(kinds[::-1], runs[::-1], strict=True)}
    distinct = len(set(folders.values())) == len(folders)
    return [folders[kind] if distinct else None for kind in kinds]


def _one_seed(runs: Sequence[Run]) -> Iterator[str]:
    """Runs of a row that have a seed in common: they began from others, whose seeds differ."""
    groups: dict[tuple[str, int], list[str]] = {}
    for run in runs:
        groups.setdefault((experiment(run.settings), run.seed), []).append(run.folder.name)
    for (_, seed), names in groups.items():
        if len(names) > 1:
            yield f"{', '.join(names)} all have the seed {seed}, and count as {len(names)} seeds"


def _refuse_mixed(runs: Sequence[Run]) -> None:
    """Errors on different data do not compare; a second pass has other labels, not other data."""
    first = tomllib.loads(runs[0].settings)
    for run in runs[1:]:
        other = tomllib.loads(run.settings)
        relabelled = "labels" in first.get("data", {}) or "labels" in other.get("data", {})
        keys = first.get("data", {}).keys() | other.get("data", {}).keys()
        for key in sorted(keys - _FREE - ({"noise"} if relabelled else set())):
            a, b = (settings.get("data", {}).get(key) for settings in (first, other))
            if a != b and not _same_file(a, runs[0], b, run):
                raise UsageError(
                    f"{runs[0].folder.name} has data.{key} = {a!r} and {run.folder.name} has {b!r}: they "
                    f"do not compare; make a report of each."
                )


def _same_file(a: Any, first: Run, b: Any, second: Run) -> bool:
    """Whether two runs name one file in two ways, from the folders that they began in."""
    if not (isinstance(a, str) and isinstance(b, str)):
        return False
    began = (Path(str(run.environment.get("folder", ""))) for run in (first, second))
    return normpath(next(began) / a) == normpath(next(began) / b)


def _read(home: Path, given: Path) -> Run:
    result = kept_result(home)
    return Run(
        folder=home,
        row=_row(home, result),
        result=result,
        metrics=read_metrics(home),
        environment=read_record(home / ENVIRONMENT),
        settings=read_toml(home / CONFIG),
        command=read_text(home / "command.txt").strip(),
        ended=str(read_record(home / STATUS).get("time", "")),
        given=given,
    )


def _row(home: Path, result: dict[str, Any]) -> str:
    """A comparison names its folders ROW_sSEED_ID, so that variants of one method stay apart."""
    row = row_in(home.name, result["method"])
    return row if row != home.name else result["method"]
