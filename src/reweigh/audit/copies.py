"""The same input under different labels: at least one of them is wrong, whoever looks at it."""

import numpy as np
from numpy.typing import NDArray

from reweigh.data.samples import Hashes


def conflicting_copies(hashes: Hashes, labels: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Groups of positions whose inputs are equal byte for byte and whose labels are not."""
    order = np.argsort(hashes, kind="stable")
    starts = np.flatnonzero(np.diff(hashes[order])) + 1
    sizes = np.diff(np.concatenate([[0], starts, [len(order)]]))
    begins = np.concatenate([[0], starts])[sizes > 1]
    groups = [order[b : b + s] for b, s in zip(begins, sizes[sizes > 1], strict=True)]
    return [group for group in groups if len(np.unique(labels[group])) > 1]
