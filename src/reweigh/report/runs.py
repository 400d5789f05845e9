"""The finished runs that a report is about: which to show, and the table of them all."""

import statistics
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from reweigh.comparing.comparison import both_scores
from reweigh.comparing.measures import measure_of, over_seeds
from reweigh.config.methods import trains_on_trusted
from reweigh.config.writing import defining
from reweigh.training.answers import Answers

CEILINGS = ("perfect-weights", "perfect-mixed", "clean-labels")
"""Controls that know the truth: shown in the table, never what a report is about."""


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
    ended: str = ""
    """When, as ISO 8601; empty where nobody says."""
    given: Path = Path()
    """Its folder as a user would call it: by the path that was asked for."""

    @property
    def seed(self) -> int:
        """Of everything random in it."""
        return int(self.result["seed"])

    @property
    def method(self) -> dict[str, Any]:
        """Its settings of the method."""
        return tomllib.loads(self.settings).get("method", {"name": self.result["method"]})

    @property
    def terms(self) -> dict[str, Any]:
        """What it must have in common with runs that it is compared with: student and schedule.

        Data is not among them: runs of different data are not read into one report.
        """
        values = defining(self.settings)
        return {name: values.get(name, {}) for name in ("training", "student")}

    @cached_property
    def answers(self) -> Answers | None:
        """To the test samples; None where nobody kept them."""
        return Answers.of(self.folder)

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
                "last": over_seeds([measure.scale * r[measure.last] for r in some]),
                "best": over_seeds([measure.scale * r[measure.best] for r in some]),
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
