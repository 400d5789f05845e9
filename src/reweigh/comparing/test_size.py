"""How far an error may be off because the test set is no larger.

A spread over seeds does not say it: all seeds are measured on the same test samples.
"""

import math

from reweigh.comparing.measures import Value


def by_size(share: float, samples: int) -> float:
    """Binomial standard error of a share of so many samples, √(p (1 − p) / n)."""
    return math.sqrt(share * (1 - share) / samples)


def worth_telling(points: float, value: Value) -> bool:
    """Beside mean and spread over seeds: unless it is small by that spread."""
    return points > 0 and (value[1] is None or points > value[1] / 2)
