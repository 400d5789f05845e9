r"""The loss-margin teacher: is a sample understood as well as trusted ones are?

$$ w = \sigma(c\, m + b), \qquad m = (\bar\ell - \ell) / s, $$

with mean and deviation of the *trusted* samples' losses under the same student. It needs no classes
and no layer, so it serves whatever has one loss a sample: regression, several labels a sample,
sequences, contrastive batches. What a large loss is depends on the student and its age; the trusted
samples tell, step by step, so that two learned numbers are enough. Beyond the paper.
"""

import torch
from torch import Tensor, nn

from reweigh.student.seen import Seen
from reweigh.teachers.base import Teacher
from reweigh.typing import Losses, Weights

_LEAST = 1e-3  # of the mean: where all trusted losses are alike, no trifle is a deviation


class LossMarginTeacher(Teacher):
    """σ(c·m + b). `scale` is c's start, `far` how many deviations a loss may count for, `decay` how
    long the trusted losses are remembered (our choices)."""

    def __init__(self, *, scale: float = 1.0, far: float = 6.0, decay: float = 0.9) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(float(scale)))
        self.bias = nn.Parameter(torch.zeros(()))
        self.far, self.decay = far, decay
        self.trusted: Tensor
        self.register_buffer("trusted", torch.full((2,), torch.nan))  # ℓ̄, s²

    @torch.no_grad()
    def notice_trusted(self, seen: Seen) -> None:
        """Move mean and variance towards those of a trusted batch's losses."""
        follow(self.trusted, seen.losses, self.decay)

    def margin(self, seen: Seen) -> Tensor:
        """m within ±`far`, (n,)."""
        return margin(self.trusted, seen.losses, self.far)

    def forward(self, seen: Seen) -> Weights:
        """σ(c·m + b), (n,)."""
        return (self.scale * self.margin(seen) + self.bias).sigmoid()


def follow(known: Tensor, values: Tensor, decay: float) -> None:
    """Move `known`, mean and variance (2, …), towards those of values (n, …); the first are taken."""
    values = values.to(known.dtype)
    fresh = torch.stack([values.mean(0), values.var(0, unbiased=False)])
    known.copy_(torch.where(known.isnan(), fresh, known).lerp(fresh, 1 - decay))


def margin(trusted: Tensor, losses: Losses, far: float) -> Tensor:
    """(ℓ̄ − ℓ)/s within ±`far`, (n,), in whatever unit losses are; 0 until trusted ones were seen."""
    least = (_LEAST * trusted[0]).square() + torch.finfo(trusted.dtype).tiny
    return -standardised(trusted, losses, least).clamp(-far, far)


def standardised(known: Tensor, values: Tensor, least: Tensor | float) -> Tensor:
    """(x − mean)/√(variance + least) of values (n, …) by `known` (2, …); 0 where nothing is known.

    Not by nan_to_num at the end, behind which the gradient would be NaN.
    """
    blank = known.isnan().any(0)
    mean, variance = known.where(~blank, 0.0)
    deviation = torch.where(blank, 1.0, variance + least).sqrt()
    return torch.where(blank, 0.0, (values.to(known.dtype) - mean) / deviation)
