"""What one step of a reweighed loop has to tell."""

from dataclasses import dataclass

from torch import Tensor

from reweigh.stepping.figures import Figures
from reweigh.typing import Losses, Weights


@dataclass(frozen=True)
class Outcome:
    """Losses and weights, detached; reading a number off them may wait for a GPU.

    Vectors are of this process's part of the batch, numbers of the whole batch.
    """

    loss: Tensor
    """The weighted loss that was minimised, ()."""
    losses: Losses
    """(n,) per-sample losses before the step, without what a teacher multiplies them by."""
    weights: Weights
    """(n,) as they multiplied the losses (raw, while a batch is being accumulated)."""
    figures: Figures
    """Sums over the whole pass."""
    mean_loss: float
    """Of the losses, not weighted: read when the loss was checked, so that a GPU is waited for once."""
    taught: bool = False
    """Whether the teacher learned, after this step or, by `lookahead`, before it."""

    @property
    def effective_share(self) -> float:
        """Effective sample size as a share of the batch: 1 = all alike, 1/n = one sample only."""
        return float(self.figures.effective_share)
