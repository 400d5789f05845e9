"""The one table that many runs are for: mean ± standard deviation over seeds, cost, AUROC."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table

from reweigh.config.lineup import BUDGETS, LINEUP
from reweigh.errors import DataError, ReweighError
from reweigh.training.run_folder import read_record, read_status

Row = dict[str, Any]
COLUMNS = ("method", "seeds", "last epoch", "best by trusted", "cost", "noise AUROC")


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
        """For a terminal: errors in percent, cost in units of plain training."""
        table = Table(title=f"test error, % ({self.folder})", caption=self._caption())
        for name in COLUMNS:
            table.add_column(name, justify="left" if name == "method" else "right")
        for line in self._lines():
            table.add_row(*line)
        for name, why in self.failures.items():
            table.add_row(name, "–", f"failed: {why}")
        return table

    def markdown(self) -> str:
        """For a page."""
        lines = [COLUMNS, ("---",) + ("---:",) * (len(COLUMNS) - 1), *self._lines()]
        text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        caption = self._caption()
        return f"{text}\n\n{caption}" if caption else text

    def _lines(self) -> list[tuple[str, ...]]:
        methods = dict.fromkeys(row["method"] for row in self.rows)
        return [_line(m, [row for row in self.rows if row["method"] == m]) for m in methods]

    def _caption(self) -> str | None:
        methods = dict.fromkeys(row["method"] for row in self.rows)
        return "; ".join(f"{m}: {BUDGETS[m]}" for m in methods if m in BUDGETS) or None


def read_comparison(folder: Path) -> Comparison:
    """The table of what is finished in a folder that `reweigh compare` filled."""
    rows = [
        read_record(result) | {"method": result.parent.name.rpartition("_s")[0]}
        for result in folder.glob("*/result.json")
        if read_status(result.parent) == "done"
    ]
    if not rows:
        raise DataError(
            f"{folder} holds no finished run: fill it with reweigh compare --out {folder}"
        )
    order = {name: place for place, name in enumerate(LINEUP)}
    rows.sort(key=lambda row: (order.get(row["method"], len(order)), row["method"], row["seed"]))
    return Comparison(with_cost(rows), folder=folder)


def with_cost(rows: list[Row]) -> list[Row]:
    """Cost: processor time of training over that of plain training, of the same seed if there."""
    plain = {row["seed"]: row["train_seconds"] for row in rows if row["method"] == "uniform"}
    usual = statistics.median(plain.values()) if plain else None
    return [
        row | {"cost": row["train_seconds"] / plain.get(row["seed"], usual) if usual else None}
        for row in rows
    ]


def _line(method: str, rows: list[Row]) -> tuple[str, ...]:
    costs = [row["cost"] for row in rows if row["cost"] is not None]
    found = [row["noise_auroc"] for row in rows if row["noise_auroc"] is not None]
    return (
        method,
        str(len(rows)),
        _spread(rows, "test_error_last"),
        _spread(rows, "test_error_best_by_trusted"),
        f"{statistics.median(costs):.2f}" if costs else "–",
        f"{statistics.mean(found):.3f}" if found else "–",
    )


def _spread(rows: list[Row], key: str) -> str:
    values = [100 * row[key] for row in rows]
    spread = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.2f}{spread}"
