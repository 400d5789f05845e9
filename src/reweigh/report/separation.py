r"""How well a column of a table tells two classes apart, so that the telling ones are shown first.

In 0 … 1, by the rows that *have* the two labels, some of which are wrong: that lowers the figure of
every column alike. Of texts it is the total variation distance $\frac{1}{2} \sum_v |p_a(v) - p_b(v)|$
of their shares p; of numbers the same distance of two normal distributions as far apart as the
means are in standard deviations d, erf(d / √8).
"""

from collections.abc import Callable, Sequence
from math import erf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.data.columns import as_numbers

Apart = Callable[[int, int], float]
"""Of two classes, by their numbers."""
MOST_TEXTS = 100
"""More different texts are prose or keys: their shares say nothing of a class."""


def separation(
    cells: NDArray[Any], labels: NDArray[np.int64], classes: int, decimal_commas: bool = False
) -> Apart:
    """How far cells (n,) set so many classes apart, by the label (n,) of each."""
    numbers = as_numbers(cells, decimal_commas)
    if numbers is None:
        return _of_texts(cells.tolist(), labels, classes)
    known = np.isfinite(numbers)
    return _of_numbers(numbers[known], labels[known], classes)


def _of_numbers(x: NDArray[np.float64], labels: NDArray[np.int64], classes: int) -> Apart:
    x = x - (x.mean() if len(x) else 0.0)  # dates are large, and squares of them lose the rest
    size = np.maximum(np.bincount(labels, minlength=classes), 1)
    mean = np.bincount(labels, x, classes) / size  # (K,)
    variance = np.maximum(np.bincount(labels, x * x, classes) / size - mean**2, 0)

    def apart(a: int, b: int) -> float:
        distance, spread = abs(mean[a] - mean[b]), sqrt((variance[a] + variance[b]) / 2)
        return erf(distance / spread / sqrt(8)) if spread else float(distance > 0)

    return apart


def _of_texts(cells: Sequence[Any], labels: NDArray[np.int64], classes: int) -> Apart:
    numbers: dict[Any, int] = {}
    which = np.array([numbers.setdefault(cell, len(numbers)) for cell in cells], np.int64)
    if len(numbers) > MOST_TEXTS:
        return lambda _a, _b: 0.0
    counts = np.zeros((classes, len(numbers)))
    np.add.at(counts, (labels, which), 1)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)  # (K, texts)
    return lambda a, b: float(np.abs(share[a] - share[b]).sum() / 2)
