"""By how much one method is ahead of another on the same test samples, and how sure that is.

Let d_i be how much more often the other method gets sample i wrong, averaged over seeds. The lead is
the mean of d, its variance the sum of two parts: that of a mean over n samples, with half a sample
added to each of the four outcomes of a pair (Agresti and Min 2005; the plain formula is too sure where
few answers differ), and that of training, the variance of each method's errors over its seeds divided
by their number. The interval is Student's, with Welch's degrees of freedom: two seeds hardly know
their spread. With two to five seeds, methods that are alike were told apart in at most 5 of 100 made-up
comparisons, and in up to 18 with a normal interval in its place. One seed knows nothing of training.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

Wrong = NDArray[np.bool_]
"""(seeds, n): which test samples the student of each seed got wrong."""
_LEVEL = 0.95
HOW = (
    "This ± is a two-sided 95 % interval of the difference, from the answers to the same test samples and "
    "from the spread over seeds where there are several."
)
"""For whoever reads a lead."""


@dataclass(frozen=True)
class Lead:
    """Points of the test error."""

    points: float
    within: float
    """Half of the two-sided 95 % interval."""
    one_seed: bool
    """Whether a method has one seed only, of which nobody knows what training again would change."""

    @property
    def beyond_chance(self) -> bool:
        """Whether the interval is on one side of zero."""
        return abs(self.points) > self.within


def lead(own: Wrong, other: Wrong) -> Lead:
    """Of `own` over `other`; negative where it is behind."""
    d = other.mean(0) - own.mean(0)  # (n,)
    parts = [_of_samples(d), *(_of_seeds(wrong) for wrong in (own, other) if len(wrong) > 1)]
    variance = sum(v for v, _ in parts)
    freedom = variance**2 / sum(v**2 / f for v, f in parts)
    within = t.ppf((1 + _LEVEL) / 2, freedom) * variance**0.5
    return Lead(100 * float(d.mean()), 100 * float(within), min(len(own), len(other)) == 1)


def _of_samples(d: NDArray[np.float64]) -> tuple[float, int]:
    """Variance of the mean by the test set's size, and its degrees of freedom."""
    n = len(d) + 2
    return float((d @ d + 1 - d.sum() ** 2 / n) / n**2), n - 1


def _of_seeds(wrong: Wrong) -> tuple[float, int]:
    """Variance of the mean by training, and its degrees of freedom."""
    return float(wrong.mean(1).var(ddof=1)) / len(wrong), len(wrong) - 1
