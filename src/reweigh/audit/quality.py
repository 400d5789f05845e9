r"""How much a label is to be believed, in [0, 1]; low is suspicious.

Two witnesses: the student, $p_i = p(y_i \mid x_i)$, and the teacher, whose mean weight over the last
epochs is turned into its rank $r_i \in (0, 1)$ among all samples, because weights of different
methods live on different scales. The quality is their mean,

$$q_i = (r_i + p_i) / 2,$$

so that each corrects the other: a student may have memorised a wrong label that its teacher never
believed. Without weights $q_i = p_i$, cleanlab's *self-confidence*.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from reweigh.audit.inputs import checked_labels, checked_probabilities, checked_weights

LAST_EPOCHS = 5
"""Early weights come from a teacher that has not learned yet; a single epoch is noisy."""
MOST_UNSEEN = 0.02
"""Share of samples without a weight that is not worth a word."""


def get_label_quality_scores(
    labels: ArrayLike, pred_probs: ArrayLike, *, weights: ArrayLike | None = None
) -> NDArray[np.float32]:
    """The quality (n,) of every label.

    Args:
        labels: (n,), the given classes 0..K-1.
        pred_probs: (n, K), the student's p(k | x). Of a student that has learned these very labels
            by heart they say nothing: without weights, give those of cross-validation.
        weights: (n,) or (epochs, n), what the teacher gave; NaN where a sample was not seen.

    >>> get_label_quality_scores([0, 1], pred_probs=[[0.9, 0.1], [0.8, 0.2]])
    array([0.9, 0.2], dtype=float32)
    """
    y = checked_labels(labels)
    p = checked_probabilities(pred_probs, y)[np.arange(len(y)), y]  # (n,)
    if weights is None:
        return p
    ranks = weight_ranks(checked_weights(weights, len(y)))  # (n,)
    return ((ranks + p) / 2).astype(np.float32)


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
