r"""How many labels are wrong, which class is taken for which, and which samples they are.

Confident learning (Northcutt et al., JAIR 2021). A sample counts as confidently of class j when
$p_{ij} \ge t_j$, where the threshold

$$t_j = \operatorname{mean}_{i:\, y_i = j}\, p_{ij}$$

is the student's mean confidence in the label where the label is j. Counting given against confident
classes and scaling each row to its class's size gives the estimated noise matrix; what is off its
diagonal is the estimated number of wrong labels in each class. That many labels of the class, those
of lowest quality first, are issues, and so are all that are hardly right (quality below 0.1), except
where the student agrees with the label. So the rate of noise need not be known: the quality decides
*which*, the student's confidence *how many*. An unsure student finds too many of the right labels
doubtful; where trusted samples say that more are right (see `share`), they are believed.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweigh.audit.inputs import checked_labels, checked_probabilities
from reweigh.audit.quality import get_label_quality_scores
from reweigh.audit.share import own_mean
from reweigh.data.splits import by_largest_remainder
from reweigh.errors import UsageError

HARDLY_RIGHT = 0.1
"""A label of lower quality is an issue, however few wrong ones were counted. Our choice."""


class Judged(NamedTuple):
    """What a student's answers say of labels."""

    quality: NDArray[np.float32]  # (n,)
    noise_matrix: NDArray[np.float64]  # (K, K), rows: given
    predicted: NDArray[np.int64]  # (n,)
    is_issue: NDArray[np.bool_]  # (n,)


def find_label_issues(
    labels: ArrayLike,
    pred_probs: ArrayLike,
    *,
    return_indices_ranked_by: Literal["label_quality"] | None = None,
) -> NDArray[np.bool_] | NDArray[np.int64]:
    """A mask (n,) of the labels that look wrong, or their positions, the most suspicious first.

    Args as for `get_label_quality_scores`.
    """
    if return_indices_ranked_by not in (None, "label_quality"):
        raise UsageError(
            f"return_indices_ranked_by is {return_indices_ranked_by!r}; expected 'label_quality' or None."
        )
    y = checked_labels(labels)
    p = checked_probabilities(pred_probs, y)
    found = judged(y, p)
    if return_indices_ranked_by is None:
        return found.is_issue
    issues = np.flatnonzero(found.is_issue)
    return issues[np.argsort(found.quality[issues], kind="stable")]


def judged(
    labels: NDArray[np.int64],
    pred_probs: NDArray[np.float32],
    known: NDArray[np.bool_] | None = None,
    right: NDArray[np.float64] | None = None,
) -> Judged:
    """Every label's quality, and which are issues: as many as the noise matrix says, and the hardly right.

    A class that the student does not know (`known`, (K,)) is no answer to be confident of, and its
    labels are no issues: a student that never names a class says nothing against them. Of each
    class at least the share `right` (K,) is right, as far as it is not NaN.
    """
    quality = get_label_quality_scores(labels, pred_probs)
    matrix, predicted = noise_matrix(labels, pred_probs, known), pred_probs.argmax(axis=1)
    if right is not None:
        matrix = _at_least(right, matrix)
    mask = issues_among(labels, predicted, quality, matrix, below=HARDLY_RIGHT)
    return Judged(quality, matrix, predicted, mask if known is None else mask & known[labels])


def noise_matrix(
    labels: NDArray[np.int64],
    pred_probs: NDArray[np.float32],
    known: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """Estimated share (K, K) of the samples given class i (row) that are of class j (column)."""
    known = np.full(pred_probs.shape[1], True) if known is None else known
    t = np.where(known, _thresholds(labels, pred_probs), np.inf)
    counts = _confident_counts(labels, pred_probs, t)
    silent = (counts.sum(axis=1) == 0) | ~known
    counts[silent] = np.eye(len(counts))[silent]  # no evidence against the labels
    return counts / counts.sum(axis=1, keepdims=True)


def _at_least(right: NDArray[np.float64], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows whose diagonal is below `right` are brought there, the others' proportions kept."""
    own = np.diag(matrix)
    target = np.fmax(own, right)  # (K,); NaN says nothing
    shrunk = np.divide(1 - target, 1 - own, out=np.ones(len(own)), where=own < 1)
    held = matrix * shrunk[:, None]
    np.fill_diagonal(held, target)
    return held


def wrong_per_class(labels: NDArray[np.int64], matrix: NDArray[np.float64]) -> NDArray[np.int64]:
    """Estimated number (K,) of wrong labels among the samples of each given class.

    Rounded together: of many small classes each would be rounded to none.
    """
    sizes = np.bincount(labels, minlength=len(matrix))
    return by_largest_remainder((1 - np.diag(matrix)) * sizes)


def issues_among(
    labels: NDArray[np.int64],
    predicted: NDArray[np.int64],
    quality: NDArray[np.float32],
    matrix: NDArray[np.float64],
    *,
    below: float = 0.0,
) -> NDArray[np.bool_]:
    """The mask (n,): in each class as many as estimated, lowest quality first; and all `below`."""
    mask = quality < below
    for k, wrong in enumerate(wrong_per_class(labels, matrix)):
        members = np.flatnonzero(labels == k)
        mask[members[np.argsort(quality[members], kind="stable")[:wrong]]] = True
    return mask & (predicted != labels)


def _thresholds(labels: NDArray[np.int64], p: NDArray[np.float32]) -> NDArray[np.float64]:
    """t (K,); infinite for a class that no label names: nobody can be sure of it."""
    return np.nan_to_num(own_mean(labels, p), nan=np.inf)


def _confident_counts(
    labels: NDArray[np.int64], p: NDArray[np.float32], t: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(K, K): given class against the likeliest class whose threshold is reached."""
    K = p.shape[1]
    reached = np.where(p >= t.astype(np.float32), p, np.float32(-1))  # (n, K)
    sure = reached.max(axis=1) >= 0
    pairs = labels[sure] * K + reached[sure].argmax(axis=1)
    return np.bincount(pairs, minlength=K * K).reshape(K, K).astype(np.float64)
