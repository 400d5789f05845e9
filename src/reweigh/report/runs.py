"""The finished runs that a report is about, read from their folders."""

import statistics
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reweigh.config.differences import told_apart
from reweigh.config.methods import trains_on_trusted
from reweigh.config.writing import defining, experiment, row_in
from reweigh.errors import UsageError
from reweigh.training.comparison import both_scores
from reweigh.training.measures import Value, measure_of
from reweigh.training.result import RESULT
from reweigh.training.run import refuse_unfinished
from reweigh.training.run_folder import read_metrics, read_record

CEILINGS = ("perfect-weights", "perfect-mixed", "clean-labels")
"""Controls that know the truth: shown in the table, never what a report is about."""


_FREE = {"labels", "true_labels", "drop", "dir", "seed"}
"""Settings of the data in which runs may differ and still compare: what a second pass changes."""


@dataclass(frozen=True)
class Run:
    """What one run's folder says."""

    folder: Path
    row: str
    """The name of its row in a table: its method, or the variant that a comparison called it."""
    result: dict[str, Any]
    metrics: list[dict[str, Any]]
    environment: dict[str, Any]
    settings: str
    command: str

    @property
    def seed(self) -> int:
        """Of everything random in it."""
        return int(self.result["seed"])

    @property
    def method(self) -> dict[str, Any]:
        """Its settings of the method."""
        return tomllib.loads(self.settings).get("method", {"name": self.result["method"]})

    @property
    def internal(self) -> bool:
        """Whether its teacher looks at internal states; others see the surface: loss, label, epoch."""
        method = self.method
        additive = method.get("teacher") in ("linear", "mlp")
        inside = any(name.startswith("I") for name in method.get("features", ["I0"]))
        return method["name"] == "deep" and (inside or not additive)

    @property
    def weighed(self) -> bool:
        """Whether somebody gave weights."""
        return (self.folder / "weights").is_dir()


def read_runs(folders: Sequence[Path]) -> list[Run]:
    """The finished runs in these folders, each a run's own or one that holds several."""
    homes = [home for folder in folders for home in _homes(folder)]
    runs = [_read(home) for home in dict.fromkeys(home.resolve() for home in homes)]
    _refuse_mixed(runs)
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


def _refuse_mixed(runs: Sequence[Run]) -> None:
    """Errors on different data do not compare; a second pass has other labels, not other data."""
    first = tomllib.loads(runs[0].settings)
    for run in runs[1:]:
        other = tomllib.loads(run.settings)
        relabelled = "labels" in first.get("data", {}) or "labels" in other.get("data", {})
        keys = first.get("data", {}).keys() | other.get("data", {}).keys()
        for key in sorted(keys - _FREE - ({"noise"} if relabelled else set())):
            a, b = (settings.get("data", {}).get(key) for settings in (first, other))
            if a != b:
                raise UsageError(
                    f"{runs[0].folder.name} has data.{key} = {a!r} and {run.folder.name} has {b!r}: they "
                    f"do not compare; make a report of each."
                )


def foremost(runs: Sequence[Run]) -> Run:
    """The run to show in detail: best by the trusted set of those that weigh; test is not asked.

    Errors on samples that were trained on do not compare with others: of runs that weigh, those that
    did so, as the default does, come first; of others, they come last.
    """
    trusted = measure_of([run.result for run in runs]).trusted
    own = [run for run in runs if run.result["method"] not in CEILINGS] or list(runs)
    weighing = [run for run in own if run.weighed]
    some = weighing or own
    alike = [run for run in some if trains_on_trusted(run.method) == bool(weighing)] or some
    return min(alike, key=lambda run: (run.result[trusted], run.seed))


def counterpart(runs: Sequence[Run], main: Run) -> Run | None:
    """The run to stand beside it: foremost of those whose teacher sees what `main`'s does not."""
    others = [
        run
        for run in runs
        if run.weighed and run.result["method"] not in CEILINGS and run.internal != main.internal
    ]
    return foremost(others) if main.weighed and others else None


def table(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """One row a method, best first: mean and deviation of the measure over seeds, in its unit."""
    measure, rows = measure_of([run.result for run in runs]), []
    for name in dict.fromkeys(run.row for run in runs):
        some = [run.result for run in runs if run.row == name]
        found = [r["noise_auroc"] for r in some if r["noise_auroc"] is not None]
        rows.append(
            {
                "method": name,
                "seeds": len(some),
                "last": _spread([measure.scale * r[measure.last] for r in some]),
                "best": _spread([measure.scale * r[measure.best] for r in some]),
                "auroc": statistics.mean(found) if found else None,
                "seconds": statistics.mean(r["train_seconds"] for r in some),
            }
        )
    return sorted(rows, key=lambda row: measure.order(row["last"]))


def test_sets(runs: Sequence[Run]) -> list[dict[str, str]]:
    """Of translators: both scores on every test set, one row a method and set; else nothing."""
    sets = dict.fromkeys(test for run in runs for test in run.result.get("tests", ()))
    by_row = {run.row: [r.result for r in runs if r.row == run.row] for run in runs}
    return [
        {"method": row, "test": test}
        | {which: both_scores(some, test, which) for which in ("last", "best_by_trusted")}
        for test in sets
        for row, some in by_row.items()
    ]


def _spread(values: list[float]) -> Value:
    """Mean and standard deviation; none of one value."""
    return statistics.mean(values), statistics.stdev(values) if len(values) > 1 else None


def _homes(folder: Path) -> list[Path]:
    if (folder / "config.toml").is_file():
        refuse_unfinished(folder)
        return [folder]
    homes = sorted(result.parent for result in folder.glob(f"*/{RESULT}"))
    if not homes:
        raise UsageError(f"{folder} holds no finished run: neither it nor a folder in it.")
    return homes


def _read(home: Path) -> Run:
    result = read_record(home / RESULT)
    return Run(
        folder=home,
        row=_row(home, result),
        result=result,
        metrics=read_metrics(home),
        environment=read_record(home / "env.json"),
        settings=(home / "config.toml").read_text(encoding="utf-8"),
        command=(home / "command.txt").read_text(encoding="utf-8").strip(),
    )


def _row(home: Path, result: dict[str, Any]) -> str:
    """A comparison names its folders ROW_sSEED_ID, so that variants of one method stay apart."""
    row = row_in(home.name)
    return row if row != home.name else result["method"]
