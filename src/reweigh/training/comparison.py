"""The one table that many runs are for: mean ± standard deviation over seeds, cost, AUROC."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rich.table import Table

from reweigh.config.lineup import BUDGETS, LINEUP, PRETRAINED
from reweigh.config.methods import trains_on_trusted
from reweigh.config.writing import experiment, plain_values
from reweigh.errors import DataError, ReweighError
from reweigh.training.run_folder import read_record, read_status

Row = dict[str, Any]
Column = tuple[str, Callable[[list[Row]], str]]
"""Its head, and its cell from the rows of one method."""


@dataclass(frozen=True)
class Comparison:
    """One row per method and seed."""

    rows: list[Row]
    failures: Mapping[str, ReweighError] = field(default_factory=dict)
    folder: Path = Path()

    def outcome(self) -> dict[str, Any]:
        """For programs."""
        return {"rows": self.rows, "failures": {n: str(why) for n, why in self.failures.items()}}

    def table(self) -> Table:
        """For a terminal: errors in percent or BLEU, cost in units of plain training."""
        what = "BLEU" if _bleu(self.rows) else "test error, %"
        table = Table(title=f"{what} ({self.folder})", caption=self._caption())
        for name, _ in self._columns():
            table.add_column(name, justify="left" if name == "method" else "right")
        for line in self._lines():
            table.add_row(*line)
        for name, why in self.failures.items():
            table.add_row(name, "–", f"failed: {why}")
        return table

    def markdown(self) -> str:
        """For a page."""
        heads = tuple(name for name, _ in self._columns())
        lines = [heads, ("---",) + ("---:",) * (len(heads) - 1), *self._lines()]
        text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        caption = self._caption()
        return f"{text}\n\n{caption}" if caption else text

    def _lines(self) -> list[tuple[str, ...]]:
        methods = dict.fromkeys(row["method"] for row in self.rows)
        by_method = [[row for row in self.rows if row["method"] == m] for m in methods]
        return [tuple(cell(rows) for _, cell in self._columns()) for rows in by_method]

    def _columns(self) -> list[Column]:
        scores = _bleu_columns(self.rows) if _bleu(self.rows) else ERRORS
        return [*WHO, *scores, *WHAT_FOR]

    def _caption(self) -> str | None:
        methods = dict.fromkeys(row["method"] for row in self.rows)
        words = [f"{m}: {BUDGETS[m]}" for m in methods if m in BUDGETS]
        both = [m for m in methods if m in LINEUP and trains_on_trusted(plain_values(LINEUP[m]))]
        both = [m for m in both if m != "trusted-only"]  # its name says more
        if both:
            words.append(f"trained on the trusted samples as well: {', '.join(both)}")
        if _bleu(self.rows):
            signature = self.rows[0]["signature"]
            words.insert(0, f"BLEU as multi-bleu.perl, in brackets detokenised ({signature})")
        return "; ".join(words) or None


def read_comparison(folder: Path) -> Comparison:
    """The table of what is finished in a folder that `reweigh compare` filled."""
    homes = [home.parent for home in sorted(folder.glob("*/result.json"))]
    homes = [home for home in homes if read_status(home) == "done"]
    names = told_apart([home.name.rpartition("_s")[0] for home in homes], _experiments(homes))
    rows = [
        read_record(home / "result.json") | {"method": name}
        for home, name in zip(homes, names, strict=True)
    ]
    if not rows:
        raise DataError(_nothing_in(folder))
    order = {name: place for place, name in enumerate([PRETRAINED, *LINEUP])}
    rows.sort(key=lambda row: (order.get(row["method"], len(order)), row["method"], row["seed"]))
    return Comparison(with_cost(rows), folder=folder)


def _nothing_in(folder: Path) -> str:
    if not folder.exists():
        return f"{folder} does not exist."
    if (folder / "config.toml").is_file():
        return f"{folder} is one run, not a comparison: see {folder / 'result.json'}, or reweigh report."
    return f"{folder} holds no finished run: fill it with reweigh compare --out {folder}"


def told_apart(
    names: Sequence[str], experiments: Sequence[str], called: Mapping[str, str] | None = None
) -> list[str]:
    """Names of rows such that runs of different settings, which must not be averaged, differ.

    `called` says what people call an experiment; else it is the beginning of its hash.
    """
    kinds = {
        name: {e for n, e in zip(names, experiments, strict=True) if n == name} for name in names
    }
    return [
        name if len(kinds[name]) == 1 else f"{name} ({(called or {}).get(one, one[:4])})"
        for name, one in zip(names, experiments, strict=True)
    ]


def _experiments(homes: Sequence[Path]) -> list[str]:
    """Of each run; without settings there is nothing to tell it from others by."""
    files = [home / "config.toml" for home in homes]
    return [experiment(f.read_text(encoding="utf-8")) if f.is_file() else "" for f in files]


def with_cost(rows: list[Row]) -> list[Row]:
    """Cost: processor time of training over that of plain training, of the same seed if there."""
    plain = {row["seed"]: row["train_seconds"] for row in rows if row["method"] == "uniform"}
    usual = statistics.median(plain.values()) if plain else None
    return [
        row | {"cost": row["train_seconds"] / plain.get(row["seed"], usual) if usual else None}
        if row["method"] != PRETRAINED
        else row | {"cost": None}
        for row in rows
    ]


def _bleu(rows: list[Row]) -> bool:
    """Whether these are translators."""
    return bool(rows) and "tests" in rows[0]


def _bleu_columns(rows: list[Row]) -> list[Column]:
    """Of each test set, last and best by trusted."""
    kinds = {"last": "last", "best_by_trusted": "best by trusted"}
    return [
        (f"{test}, {words}", partial(_both_scores, test=test, which=which))
        for test in rows[0]["tests"]
        for which, words in kinds.items()
    ]


def _both_scores(rows: list[Row], test: str, which: str) -> str:
    found = [row["tests"][test][which] for row in rows]
    detokenised = statistics.mean(score for _, score in found)
    return f"{spread([score for score, _ in found])} ({detokenised:.2f})"


def _errors(rows: list[Row], key: str) -> str:
    return spread([100 * row[key] for row in rows])


def _cost(rows: list[Row]) -> str:
    costs = [row["cost"] for row in rows if row["cost"] is not None]
    return f"{statistics.median(costs):.2f}" if costs else "–"


def _auroc(rows: list[Row]) -> str:
    found = [row["noise_auroc"] for row in rows if row["noise_auroc"] is not None]
    return f"{statistics.mean(found):.3f}" if found else "–"


def spread(values: Sequence[float]) -> str:
    """Mean ± standard deviation; empty where there is nothing."""
    if not values:
        return ""
    width = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.2f}{width}"


WHO: list[Column] = [
    ("method", lambda rows: rows[0]["method"]),
    ("seeds", lambda rows: str(len(rows))),
]
ERRORS: list[Column] = [
    ("last epoch", partial(_errors, key="test_error_last")),
    ("best by trusted", partial(_errors, key="test_error_best_by_trusted")),
]
WHAT_FOR: list[Column] = [("cost", _cost), ("noise AUROC", _auroc)]
