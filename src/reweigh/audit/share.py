r"""How many labels of a class are right, by the trusted samples.

Of the samples that are given class k, let the share s be right. With the student's mean probability
of k at trusted samples of class k ($a_k$), at trusted samples of other classes ($b_k$), and at the
samples given k ($e_k$),

$$e_k = s_k\, a_k + (1 - s_k)\, b_k, \qquad s_k = \frac{e_k - b_k}{a_k - b_k}.$$

A student may be too sure or too unsure of itself, since a and b are so as well; but it must have
learned from the trusted samples as from the others, or it knows the labels of one of the two by
heart. So this is for methods that train on them. Seen more often than the others, they are answered
better, and s comes out too low: then confident learning, which an unsure student leads to count too
many wrong labels as well, has the last word (see `issues`).
"""

import numpy as np
from numpy.typing import NDArray


def right_shares(
    labels: NDArray[np.int64],
    p: NDArray[np.float32],
    trusted: NDArray[np.int64],
    sure: NDArray[np.float32],
) -> NDArray[np.float64]:
    """s (K,) of labels (n,) with answers p (n, K), by trusted labels (t,) with answers `sure` (t, K).

    NaN where nothing can be told: no label or no trusted sample names the class, all of them do, or the
    student does not tell them from the others.
    """
    K = p.shape[1]
    e, a = own_mean(labels, p), own_mean(trusted, sure)  # (K,), NaN without samples
    size = np.bincount(trusted, minlength=K)
    others = sure.sum(axis=0, dtype=np.float64) - np.where(size, a * size, 0)
    b = np.divide(others, len(trusted) - size, out=np.full(K, np.nan), where=size < len(trusted))
    told = a > b  # not where either is NaN
    share = np.divide(e - b, a - b, out=np.full(K, np.nan), where=told)
    return np.clip(share, 0, 1)


def own_mean(labels: NDArray[np.int64], p: NDArray[np.float32]) -> NDArray[np.float64]:
    """Mean probability (K,) of class k at the samples (n,) that are called k; NaN without any."""
    own = p[np.arange(len(labels)), labels]  # (n,)
    size = np.bincount(labels, minlength=p.shape[1])
    total = np.bincount(labels, weights=own, minlength=p.shape[1])
    return np.divide(total, size, out=np.full(len(size), np.nan), where=size > 0)
