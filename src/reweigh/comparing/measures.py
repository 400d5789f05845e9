"""What runs are judged by on the test set: a classifier's error, a translator's BLEU."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reweigh.errors import UsageError

Value = tuple[float, float | None]
"""Mean over seeds, and standard deviation where there are several."""


@dataclass(frozen=True)
class Measure:
    """Where a result holds it, and how it is said."""

    name: str
    unit: str
    scale: float
    last: str
    """Key of the value after the last epoch."""
    best: str
    """Key of the value of the epoch that is best by the trusted set."""
    trusted: str
    """Key of what a choice may rest on; lower is better."""
    lower_is_better: bool
    sentence: str
    """With places for who and how much."""

    @property
    def title(self) -> str:
        """With the unit, to begin a line."""
        words = f"{self.name}, {self.unit}".removesuffix(", ")
        return words[0].upper() + words[1:]

    def order(self, value: Value) -> float:
        """The best first."""
        return value[0] if self.lower_is_better else -value[0]

    def text(self, value: Value, digits: int = 1) -> str:
        """Mean ± deviation with the unit."""
        return f"{_figures(value, digits)} {self.unit}".rstrip()


ERROR, BLEU = MEASURES = (
    Measure(
        name="test error", unit="%", scale=100, lower_is_better=True,
        last="test_error_last", best="test_error_best_by_trusted", trusted="trusted_error_last",
        sentence="trained with {who}, the model gets {how_much} of the test samples wrong",
    ),
    Measure(
        name="BLEU", unit="", scale=1, lower_is_better=False,
        last="bleu_last", best="bleu_best_by_trusted", trusted="trusted_loss_last",
        sentence="trained with {who}, the model reaches a BLEU of {how_much}",
    ),
)  # fmt: skip


def measure_of(results: list[Mapping[str, Any]]) -> Measure:
    """The one measure that all these results have."""
    for measure in MEASURES:
        if all(measure.last in result for result in results):
            return measure
    raise UsageError("These runs are of different kinds of work; make a report of each kind.")


def over_seeds(values: Sequence[float]) -> Value:
    """Mean and standard deviation."""
    return statistics.mean(values), statistics.stdev(values) if len(values) > 1 else None


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Mean ± standard deviation; empty where there is nothing."""
    return _figures(over_seeds(values), digits) if values else ""


def _figures(value: Value, digits: int) -> str:
    mean, deviation = value
    return f"{mean:.{digits}f}" + ("" if deviation is None else f" ± {deviation:.{digits}f}")
