"""The one table that many runs are for: mean ± standard deviation over seeds, cost, AUROC.

All its rows have the same terms: data, noise, student and schedule.
"""

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from reweigh.config.lineup import BUDGETS, LINEUP, PRETRAINED
from reweigh.config.methods import trains_on_trusted
from reweigh.config.writing import plain_values
from reweigh.training.measures import over_seeds, spread
from reweigh.training.test_size import by_size, worth_telling
from reweigh.training.written_tables import latex, markdown

ON_TRUSTED = "trained on the trusted samples as well, and their best epoch chosen by them"
Row = dict[str, Any]
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

    def outcome(self) -> dict[str, Any]:
        """For programs."""
        return {"terms": self.terms, "rows": self.rows, "failures": dict(self.failures)}

    def table(self) -> Table:
        """For a terminal: errors in percent or BLEU, cost in units of plain training."""
        what = "BLEU" if _bleu(self.rows) else "test error, %"
        where = f"{self.folder}: {self.terms}" if self.terms else f"{self.folder}"
        words = (self._caption(), _of_test_size(self.rows), _other_data(self.rows))
        words = (*words, *_cautions(self.rows))
        caption = "; ".join(word for word in words if word)
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
        words = [self.terms, markdown(self._heads(), self._lines(), ["method"]), *self._below()]
        return "\n\n".join(word for word in words if word)

    def latex(self) -> str:
        """For a paper."""
        what = "BLEU" if _bleu(self.rows) else "Test error in percent"
        caption = "; ".join(word for word in (what, self.terms, *self._below()) if word)
        return latex(self._heads(), self._lines(), ["method"], caption)

    def _below(self) -> list[str]:
        """What a reader must know of the figures."""
        missing = "; ".join(f"{name}: {why}" for name, why in self.failures.items())
        words = [self._caption(), missing and f"Missing: {missing}", _of_test_size(self.rows)]
        return [word for word in [*words, _other_data(self.rows), *_cautions(self.rows)] if word]

    def _heads(self) -> list[str]:
        return [name for name, _ in self._columns()]

    def _lines(self) -> list[tuple[str, ...]]:
        return [tuple(cell(rows) for _, cell in self._columns()) for rows in _by_method(self.rows)]

    def _columns(self) -> list[Column]:
        scores = _bleu_columns(self.rows) if _bleu(self.rows) else ERRORS
        return [*WHO, *scores, *WHAT_FOR]

    def _caption(self) -> str | None:
        settings = {row["method"]: row["settings"] for row in self.rows}
        less = {m: budget for m, own in settings.items() if (budget := _budget(own))}
        words = [
            f"{', '.join(m for m in less if less[m] == budget)}: {budget}"
            for budget in dict.fromkeys(less.values())
        ]
        both = [m for m, own in settings.items() if trains_on_trusted(own)]
        both = [m for m in both if m != "trusted-only"]  # its name says more
        if both:
            words.append(f"{ON_TRUSTED}: {', '.join(both)}")
        if _bleu(self.rows):
            signature = self.rows[0]["signature"]
            words.insert(0, f"BLEU as multi-bleu.perl, in brackets detokenised ({signature})")
        return "; ".join(words) or None


def _cautions(rows: Sequence[Row]) -> list[str]:
    """What every run said of the data, once."""
    said = dict.fromkeys(word for row in rows for word in row.get("cautions", ()))
    return [f"Caution: {word}" for word in said]


def _of_test_size(rows: Sequence[Row]) -> str:
    """What no spread over seeds covers, of the row where it is most; empty where nobody kept the size."""
    size = {row.get("test_samples") for row in rows}
    if len(size) != 1 or not (samples := size.pop()):
        return ""
    values = [over_seeds([100 * r["test_error_last"] for r in one]) for one in _by_method(rows)]
    points = [100 * by_size(mean / 100, samples) for mean, _ in values]
    if not any(map(worth_telling, points, values)):
        return ""
    return f"a test set of {samples:,} samples leaves ± {max(points):.1f} points by its size alone"


def _by_method(rows: Sequence[Row]) -> list[list[Row]]:
    methods = dict.fromkeys(row["method"] for row in rows)
    return [[row for row in rows if row["method"] == method] for method in methods]


def _other_data(rows: Sequence[Row]) -> str:
    """Seeds whose runs do not compare: what their settings name has changed between them."""
    own = [row for row in rows if row["method"] != PRETRAINED]  # which may have been free of noise
    kept = {(row["seed"], row["fingerprint"]) for row in own if row.get("fingerprint")}
    times = Counter(seed for seed, _ in kept)
    told = ", ".join(str(seed) for seed in sorted(times) if times[seed] > 1)
    return (
        f"Caution: runs of seed {told} learned from different data, and do not compare"
        if told
        else ""
    )


def _budget(settings: dict[str, Any]) -> str | None:
    """What a method runs on, where its authors give it more."""
    known = (less for row, less in BUDGETS.items() if plain_values(LINEUP[row]) == settings)
    return next(known, None)


def with_cost(rows: list[Row]) -> list[Row]:
    """Cost: processor time of training over that of plain training, of the same seed if there."""
    own = [row for row in rows if row["method"] != PRETRAINED]  # what all begin from is no cost
    plain = {r["seed"]: r["train_seconds"] for r in own if r["settings"]["name"] == "uniform"}
    usual = statistics.median(plain.values()) if plain else None
    return [
        row | {"cost": row["train_seconds"] / plain.get(row["seed"], usual)}
        if usual and row["method"] != PRETRAINED
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


def _cost(rows: list[Row]) -> str:
    costs = [row["cost"] for row in rows if row["cost"] is not None]
    return f"{statistics.median(costs):.2f}" if costs else "–"


def _auroc(rows: list[Row]) -> str:
    found = [row["noise_auroc"] for row in rows if row["noise_auroc"] is not None]
    return f"{statistics.mean(found):.3f}" if found else "–"


WHO: list[Column] = [
    ("method", lambda rows: rows[0]["method"]),
    ("seeds", lambda rows: str(len(rows))),
]
ERRORS: list[Column] = [
    ("last epoch", partial(_errors, key="test_error_last")),
    ("best by trusted", partial(_errors, key="test_error_best_by_trusted")),
]
WHAT_FOR: list[Column] = [("cost", _cost), ("noise AUROC", _auroc)]
