"""Some of many, evenly spread: the few that a chart shows or that a quantile needs."""

import numpy as np
from numpy.typing import NDArray


def evenly_spread(size: int, most: int) -> NDArray[np.int64]:
    """At most `most` of the positions 0 … size − 1, in order, the first and the last among them."""
    return np.linspace(0, size - 1, min(size, most)).astype(np.int64)
