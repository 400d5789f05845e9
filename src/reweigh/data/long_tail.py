r"""A long tail: class sizes that fall geometrically.

$n_c = n_{max} \mu^{c / (C - 1)}$ with $\mu = 1 /$ `imbalance`: class 0 stays whole and the last
class keeps one sample in `imbalance`.
"""

from math import isfinite

import numpy as np

from reweigh.data.samples import Indices, Labels
from reweigh.data.seeds import generator
from reweigh.data.splits import per_class
from reweigh.errors import UsageError


def long_tail(labels: Labels, num_classes: int, imbalance: float, seed: int) -> Indices:
    """Positions of the samples that stay, at least one of every class."""
    if not (isfinite(imbalance) and imbalance >= 1):
        raise UsageError(f"The imbalance is {imbalance}; expected a number of at least 1.")
    n_max = int(np.bincount(labels, minlength=num_classes).max())
    share = (1 / imbalance) ** (np.arange(num_classes) / (num_classes - 1))  # (C,)
    counts = np.maximum(1, np.floor(n_max * share + 1e-9).astype(np.int64))
    return per_class(labels, counts.tolist(), generator(seed, "long tail"))
