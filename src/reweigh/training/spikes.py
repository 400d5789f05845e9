"""A batch whose loss leaps out: worth a line in the log, with the samples that were in it."""

import statistics
from collections import deque
from collections.abc import Sequence

WINDOW = 50
FACTOR = 5.0
_ENOUGH = 10
_SMALL = 0.02  # losses near 0 leap all the time


class SpikeWatch:
    """Compares each loss with the median of the last 50; a spike is more than 5 times that."""

    def __init__(self, losses: Sequence[float] = ()) -> None:
        self.losses = deque(losses, WINDOW)

    def median_before(self, loss: float) -> float | None:
        """The median that `loss` leaps out of, or None; then `loss` is one of the last."""
        usual = statistics.median(self.losses) if len(self.losses) >= _ENOUGH else None
        self.losses.append(loss)
        return usual if usual is not None and loss > FACTOR * max(usual, _SMALL) else None
