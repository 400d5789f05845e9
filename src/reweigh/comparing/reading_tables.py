"""The tables of a folder of runs: one for each set of terms, whoever filled it, and when.

What differs from run to run beside method and seed (data, noise, student, schedule) are its terms.
Errors and costs compare within them only.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from reweigh.comparing.comparison import Comparison, with_cost
from reweigh.comparing.table_notes import Row
from reweigh.config.differences import differences, told_apart
from reweigh.config.lineup import LINEUP, PRETRAINED
from reweigh.config.writing import defining, length, row_in
from reweigh.errors import UsageError
from reweigh.run_files import CONFIG, STATUS, is_run
from reweigh.training.kept_result import kept_result
from reweigh.training.result import RESULT
from reweigh.training.run_records import is_done, read_record, read_toml


@dataclass(frozen=True)
class _Run:
    """What is said in a run's folder."""

    home: Path
    missing: str | None
    """Why it has come to nothing; None where it has come to something."""
    settings: dict[str, Any]

    @property
    def name(self) -> str:
        """Its row."""
        return row_in(self.home.name, self.method["name"])

    @property
    def method(self) -> dict[str, Any]:
        """The settings of its method."""
        return self.settings["method"]

    @property
    def terms(self) -> dict[str, Any]:
        """All that it must have in common with runs that it is compared with."""
        return {key: value for key, value in self.settings.items() if key != "method"}


def read_tables(folder: Path) -> list[Comparison]:
    """The tables of what is finished in a folder, and what is missing from them."""
    runs = [_read(home) for home in homes_in(folder)]
    if all(run.missing for run in runs):
        raise UsageError(_nothing_in(folder))
    groups = _on_the_same_terms([run for run in runs if run.settings])
    words = differences([group[0].terms for group in groups])
    lost = _missing(run for run in runs if not run.settings)
    return [_table(g, folder, w, lost) for g, w in zip(groups, words, strict=True)]


def homes_in(folder: Path) -> list[Path]:
    """The folders in it that are those of runs, however these ended."""
    return [file.parent for file in sorted(folder.glob(f"*/{STATUS}"))]


def why_missing(home: Path) -> str | None:
    """Why the run in a folder has come to nothing; None where it has come to something."""
    if not is_run(home):
        return f"no {CONFIG}"
    if is_done(home):
        return None
    status = read_record(home / STATUS)
    failed = status.get("status") == "failed"
    return str(status.get("reason") or "failed") if failed else "not finished"


def row_of(home: Path, name: str, settings: Mapping[str, Any]) -> Row:
    """What a finished run came to, with the settings of its method."""
    return kept_result(home) | {"method": name, "settings": dict(settings)}


def _read(home: Path) -> _Run:
    settings = defining(read_toml(home / CONFIG)) if is_run(home) else {}
    return _Run(home, why_missing(home), settings)


def _on_the_same_terms(runs: Sequence[_Run]) -> list[list[_Run]]:
    """What others begin from, trained on terms of its own, stands in every table."""
    origins = [run for run in runs if run.name == PRETRAINED]
    groups: list[list[_Run]] = []
    for run in runs:
        if run.name != PRETRAINED:
            its = next((group for group in groups if group[0].terms == run.terms), None)
            groups.append([run]) if its is None else its.append(run)
    return [group + origins for group in groups] or [origins]


def _table(runs: Sequence[_Run], folder: Path, terms: str, lost: Mapping[str, str]) -> Comparison:
    own = [run.settings if run.name == PRETRAINED else run.method for run in runs]
    names = told_apart([run.name for run in runs], own)
    order = {name: place for place, name in enumerate([PRETRAINED, *LINEUP])}
    rows = [row_of(r.home, n, r.method) for r, n in zip(runs, names, strict=True) if not r.missing]
    rows.sort(key=lambda row: (order.get(row["method"], len(order)), row["method"], row["seed"]))
    missing = _missing(runs) | dict(lost)
    return Comparison(with_cost(rows), missing, folder, terms, _about(runs[0].settings))


def _about(settings: Mapping[str, Any]) -> str:
    """Data, noise and length; a file without its folder, which is one of this machine."""
    data = settings["data"]
    noise = "no planted noise" if data["noise"] == "none" else f"noise {data['noise']}"
    return f"{Path(data['name']).name} ({noise}, {length(settings['training'])})"


def _missing(runs: Iterable[_Run]) -> dict[str, str]:
    """Runs that the table should have: a mean over those that survived is another figure."""
    return {run.home.name: run.missing for run in runs if run.missing}


def _nothing_in(folder: Path) -> str:
    if not folder.exists():
        return f"{folder} does not exist."
    if is_run(folder):
        return f"{folder} is one run, not a comparison: see {folder / RESULT}, or reweigh report."
    return (
        f"{folder} holds no finished run: fill it with reweigh compare --out {quote(str(folder))}"
    )
