r"""How much a label is to be believed: the probability that it is right, in [0, 1].

With the student's answers $p_i(y)$ and the given labels $\tilde y_i$, the noise matrix is counted in
shares of samples and applied by Bayes' rule:

$$ T_{y\tilde y} = \frac{\sum_{i:\, \tilde y_i = \tilde y} p_i(y)}{\sum_i p_i(y)}, \qquad
   q_i = \frac{T_{\tilde y_i\tilde y_i}\, p_i(\tilde y_i)}{\sum_y T_{y\tilde y_i}\, p_i(y)}. $$

A class that is often taken for another is doubted sooner than one that never is. The weights that a
teacher gave are not asked: they shaped the student, whose answers hold what they knew, and they are
made to teach, not to rank (a class may weigh more than another as a whole). Mixed into the score in
any of ten ways, they found fewer wrong labels; docs/audit.md has the figures.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from reweigh.audit.inputs import checked_labels, checked_probabilities

LAST_EPOCHS = 5
"""Early weights come from a teacher that has not learned yet; a single epoch is noisy."""
MOST_UNSEEN = 0.02
"""Share of samples without a weight that is not worth a word."""
_TINY = 1e-30  # of a label that the student holds for impossible, in float32


def get_label_quality_scores(labels: ArrayLike, pred_probs: ArrayLike) -> NDArray[np.float32]:
    """The quality q (n,) of every label.

    Args:
        labels: (n,), the given classes 0..K-1.
        pred_probs: (n, K), a student's p(k | x): of one that was taught under a teacher, or
            out-of-sample ones. A student that has learned these very labels by heart believes all.

    >>> get_label_quality_scores([0, 1], pred_probs=[[0.9, 0.1], [0.8, 0.2]]).round(2)
    array([0.93, 0.26], dtype=float32)
    """
    y = checked_labels(labels)
    p = checked_probabilities(pred_probs, y)
    T = _shares(y, p)
    q = np.empty(len(y), np.float32)
    for k in np.unique(y):  # class by class: no second array of the size of p
        rows = np.flatnonzero(y == k)
        q[rows] = T[k, k] * p[rows, k] / np.maximum(p[rows] @ T[:, k], _TINY)
    return q


def _shares(y: NDArray[np.int64], p: NDArray[np.float32]) -> NDArray[np.float64]:
    """T (K, K): of the samples that are y by the student (row), the share that is called ỹ."""
    K = p.shape[1]
    counts = np.stack([p[y == k].sum(axis=0, dtype=np.float64) for k in range(K)], axis=1)
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), _TINY)


def weight_ranks(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each sample's place in (0, 1) by mean weight over the last epochs; 1/2 where never seen."""
    mean = mean_weights(weights)  # (n,)
    seen = ~np.isnan(mean)
    ranks = np.full(len(mean), 0.5, np.float32)
    ranks[seen] = (rankdata(mean[seen]) - 0.5) / max(1, seen.sum())  # ties share their place
    return ranks


def weight_or_nan(weights: NDArray[np.float32] | None, size: int) -> NDArray[np.float32]:
    """Mean weight (n,) of the last epochs; NaN where nobody gave any."""
    return np.full(size, np.nan, np.float32) if weights is None else mean_weights(weights)


def unweighed(weight: NDArray[np.float32]) -> Iterator[str]:
    """What to know of the scores where one of the two witnesses is silent; NaN (n,) says so."""
    silent = int(np.isnan(weight).sum())
    if silent == len(weight):
        yield "the run gave no weights: how suspicious a sample is rests on the student's answers alone"
    elif silent > MOST_UNSEEN * len(weight):
        yield (
            f"{silent:,} of {len(weight):,} samples were not shown in the last epochs: no weight speaks for "
            "or against them"
        )


def mean_weights(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Mean (n,) over the last epochs in which a sample was seen; NaN where in none."""
    history = np.atleast_2d(weights)[-LAST_EPOCHS:]  # (epochs, n)
    seen = (~np.isnan(history)).sum(axis=0)
    total = np.nansum(history, axis=0, dtype=np.float64)
    return np.where(seen > 0, total / np.maximum(seen, 1), np.nan).astype(np.float32)
