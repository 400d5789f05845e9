"""Choosing some samples of every class."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reweigh.data.samples import Hashes, Indices, Labels
from reweigh.data.seeds import generator

_TEST_SHARE = 0.2


def per_class(labels: Labels, counts: Sequence[int], rng: np.random.Generator) -> Indices:
    """Positions of `counts[c]` random samples of every class c, in ascending order.

    A class that is smaller than its count is taken whole. Each class is shuffled once and cut, so
    that under one generator a smaller choice is part of a larger one.
    """
    chosen = [
        rng.permutation(np.flatnonzero(labels == c))[:count] for c, count in enumerate(counts)
    ]
    return np.sort(np.concatenate(chosen))


def proportional(labels: Labels, num_classes: int, size: int) -> list[int]:
    """How many of each class make a subset of `size` with the proportions of the whole.

    Rounded by largest remainder; a class keeps at least one sample where `size` has room for all.
    """
    available = np.bincount(labels, minlength=num_classes)
    exact = size * available / available.sum()
    counts = by_largest_remainder(exact)
    for c in np.flatnonzero((counts == 0) & (available > 0)):
        if counts.max() > 1:
            counts[counts.argmax()] -= 1
            counts[c] = 1
    return counts.tolist()


def by_largest_remainder(exact: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole numbers (K,) near `exact` ones that add up to their rounded sum."""
    counts = np.floor(exact).astype(np.int64)
    left = round(exact.sum()) - counts.sum()
    counts[np.argsort(counts - exact, kind="stable")[:left]] += 1
    return counts


def hold_out_test(labels: Labels, hashes: Hashes) -> NDArray[np.bool_]:
    """Which samples become the test set where the source has none: a fifth of every class.

    Equal inputs stay on one side, so the two sides share no content, and a class of one distinct
    input stays in train. The choice does not depend on a run's seed: results of different seeds
    are then measured on the same test set.
    """
    unique, first = np.unique(hashes, return_index=True)
    kinds = labels[first]
    counts = [min(max(1, round(_TEST_SHARE * n)), max(0, n - 1)) for n in np.bincount(kinds)]
    chosen = per_class(kinds, counts, generator(0, "test split"))
    return np.isin(hashes, unique[chosen])
