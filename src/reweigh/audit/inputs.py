"""What the audit's functions accept, refused in a sentence where it does not fit together."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweigh.errors import UsageError


def checked_labels(labels: ArrayLike) -> NDArray[np.int64]:
    """Labels (n,) as int64."""
    y = np.asarray(labels)
    if y.ndim != 1 or len(y) == 0 or y.dtype.kind not in "iu" or y.min() < 0:
        raise UsageError(
            f"labels are {y.dtype} of shape {y.shape}; expected at least one whole number from 0, "
            "in one dimension."
        )
    return y.astype(np.int64)


def checked_probabilities(pred_probs: ArrayLike, labels: NDArray[np.int64]) -> NDArray[np.float32]:
    """Probabilities (n, K) as float32, of as many samples as labels and of all their classes."""
    p = _numbers(pred_probs, "pred_probs")
    if p.ndim != 2 or len(p) != len(labels) or p.shape[1] <= labels.max():
        raise UsageError(
            f"pred_probs has shape {p.shape}; expected ({len(labels)}, K) with K above the largest "
            f"label, {labels.max()}."
        )
    if not (np.isfinite(p).all() and (p >= 0).all() and np.abs(p.sum(axis=1) - 1).max() < 1e-2):
        raise UsageError("pred_probs has rows that are no probabilities; apply a softmax first.")
    return p


def _numbers(values: ArrayLike, name: str) -> NDArray[np.float32]:
    try:
        return np.asarray(values, dtype=np.float32)
    except (ValueError, TypeError):  # texts, or rows of different lengths
        raise UsageError(f"{name} must be an array of numbers, with rows of one length.") from None
