"""The one table that many runs are for: mean ± standard deviation over seeds, cost, AUROC.

All its rows have the same terms: data, noise, student and schedule.
"""

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from reweigh.comparing.measures import measure_of, over_seeds, spread
from reweigh.comparing.table_notes import Row, by_method, cautions, notes
from reweigh.comparing.written_tables import latex, markdown
from reweigh.config.lineup import PRETRAINED

Column = tuple[str, Callable[[list[Row]], str]]
"""Its head, and its cell from the rows of one method."""


@dataclass(frozen=True)
class Comparison:
    """One row per method and seed."""

    rows: list[Row]
    """With the settings of its method under `settings`."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """Why a run is missing from its row."""
    folder: Path = Path()
    terms: str = ""
    """What tells this table from others of its folder."""
    about: str = ""
    """What it is of: data, noise, epochs."""

    def outcome(self) -> dict[str, Any]:
        """For programs."""
        return {"terms": self.terms, "rows": self.rows, "failures": dict(self.failures)}

    def figures(self) -> list[dict[str, Any]]:
        """For programs that read tables: a line a method, numbers as they are, in the table's unit."""
        measure = measure_of([*self.rows])
        lines = []
        for rows in by_method(self.rows):
            last, best = (
                over_seeds([measure.scale * row[key] for row in rows])
                for key in (measure.last, measure.best)
            )
            who = {"method": rows[0]["method"], "seeds": len(rows)}
            scores = {"mean": last[0], "std": last[1], "best_mean": best[0], "best_std": best[1]}
            what_for = {"cost": _cost(rows), "auroc": _auroc(rows)}
            table = {"measure": measure.title, "terms": self.terms, "folder": str(self.folder)}
            lines.append({**who, **scores, **what_for, **table})
        return lines

    def table(self) -> Table:
        """For a terminal: errors in percent or BLEU, cost in units of plain training."""
        what = "BLEU" if _bleu(self.rows) else "test error, %"
        where = f"{self.folder}: {self.terms}" if self.terms else f"{self.folder}"
        caption = "; ".join([*notes(self.rows), *cautions(self.rows)])
        table = Table(title=escape(f"{what} ({where})"), caption=escape(caption) or None)
        for name in self._heads():
            table.add_column(name, justify="left" if name == "method" else "right")
        for line in self._lines():
            table.add_row(*map(escape, line))
        for name, why in self.failures.items():
            table.add_row(escape(name), "–", escape(why))
        return table

    def markdown(self) -> str:
        """For a page."""
        own = [self.terms, markdown(self._heads(), self._lines(), ["method"])]
        words = [*own, *notes(self.rows), *self._doubts()]
        return "\n\n".join(word for word in words if word)

    def latex(self) -> str:
        """For a paper; what casts doubt on it is for its author, and stands above it."""
        words = [self._title(), self.terms, *notes(self.rows)]
        caption = "; ".join(word for word in words if word)
        return latex(self._heads(), self._lines(), ["method"], caption, self._doubts())

    def _title(self) -> str:
        """What the figures are, what they are of, and what stands behind ±."""
        what = "BLEU" if _bleu(self.rows) else "Test error in percent"
        of = f"{what} on {self.about}" if self.about else what
        seeds = max(len(rows) for rows in by_method(self.rows))
        spread = f"mean ± standard deviation over {seeds} seeds" if seeds > 1 else "of one seed"
        return f"{of}, {spread}"

    def _doubts(self) -> list[str]:
        missing = "; ".join(f"{name}: {why}" for name, why in self.failures.items())
        return [*([f"Missing: {missing}"] if missing else []), *cautions(self.rows)]

    def _heads(self) -> list[str]:
        return [name for name, _ in self._columns()]

    def _lines(self) -> list[tuple[str, ...]]:
        return [tuple(cell(rows) for _, cell in self._columns()) for rows in by_method(self.rows)]

    def _columns(self) -> list[Column]:
        scores = _bleu_columns(self.rows) if _bleu(self.rows) else ERRORS
        return [*WHO, *scores, *WHAT_FOR]


def with_cost(rows: list[Row]) -> list[Row]:
    """Cost: processor time of training over that of plain training, of the same seed if there; None
    where no plain training was done on the same machine."""
    plain = [row for row in rows if _trains(row) and row["settings"]["name"] == "uniform"]
    return [row | {"cost": _over(plain, row) if _trains(row) else None} for row in rows]


def _trains(row: Row) -> bool:
    """What all begin from is no cost."""
    return row["method"] != PRETRAINED


def _over(plain: list[Row], row: Row) -> float | None:
    same = [p for p in plain if p.get("machine", "") == row.get("machine", "")]
    seconds = {p["seed"]: p["train_seconds"] for p in same}
    if not seconds:
        return None
    return row["train_seconds"] / seconds.get(row["seed"], statistics.median(seconds.values()))


def _bleu(rows: list[Row]) -> bool:
    """Whether these are translators."""
    return bool(rows) and "tests" in rows[0]


def _bleu_columns(rows: list[Row]) -> list[Column]:
    """Of each test set, last and best by trusted."""
    kinds = {"last": "last", "best_by_trusted": "best by trusted"}
    return [
        (f"{test}, {words}", partial(both_scores, test=test, which=which))
        for test in rows[0]["tests"]
        for which, words in kinds.items()
    ]


def both_scores(rows: list[Row], test: str, which: str) -> str:
    """BLEU of a test set, tokenised with its spread, and in brackets detokenised."""
    found = [row["tests"][test][which] for row in rows]
    detokenised = statistics.mean(score for _, score in found)
    return f"{spread([score for score, _ in found])} ({detokenised:.2f})"


def _errors(rows: list[Row], key: str) -> str:
    return spread([100 * row[key] for row in rows])


def _cost(rows: list[Row]) -> float | None:
    costs = [row["cost"] for row in rows if row["cost"] is not None]
    return statistics.median(costs) if costs else None


def _auroc(rows: list[Row]) -> float | None:
    found = [row["noise_auroc"] for row in rows if row["noise_auroc"] is not None]
    return statistics.mean(found) if found else None


def _figure(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


WHO: list[Column] = [
    ("method", lambda rows: rows[0]["method"]),
    ("seeds", lambda rows: str(len(rows))),
]
ERRORS: list[Column] = [
    ("last epoch", partial(_errors, key="test_error_last")),
    ("best by trusted", partial(_errors, key="test_error_best_by_trusted")),
]
WHAT_FOR: list[Column] = [
    ("cost", lambda rows: _figure(_cost(rows), 2)),
    ("noise AUROC", lambda rows: _figure(_auroc(rows), 3)),
]
