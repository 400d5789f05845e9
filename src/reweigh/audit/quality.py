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

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweigh.audit.inputs import checked_labels, checked_probabilities

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
