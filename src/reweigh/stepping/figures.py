"""What a batch comes to as a whole, over all its processes and accumulated passes."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from reweigh.distributed.group import total
from reweigh.teachers.base import divisor
from reweigh.typing import Losses, Weights


@dataclass(frozen=True)
class Figures:
    """Five sums over the samples of a batch, on its device: one message where there are processes."""

    sums: Tensor  # (5,): 1, w, w², ℓ, [w > 0], with raw weights, in float32 at least

    @classmethod
    def of(cls, raw: Weights, losses: Losses) -> "Figures":
        """Of one pass."""
        exact = torch.promote_types(torch.promote_types(raw.dtype, losses.dtype), torch.float32)
        w, ell = raw.detach().to(exact), losses.detach().to(exact)
        n = torch.full((), len(w), dtype=exact, device=w.device)  # without waiting for a GPU
        parts = n, w.sum(), w.square().sum(), ell.sum(), (w > 0).sum().to(exact)
        return cls(total(torch.stack(parts)))

    @classmethod
    def together(cls, passes: Sequence["Figures"]) -> "Figures":
        """Of several passes."""
        return cls(torch.stack([one.sums for one in passes]).sum(0))

    def normaliser(self, kind: str) -> Tensor:
        """What raw weights are divided by: Σ w, or n."""
        return divisor(self.sums[0 if kind == "count" else 1])

    @property
    def mean_loss(self) -> Tensor:
        """Mean of the losses, ()."""
        return self.sums[3] / self.sums[0]

    @property
    def effective_share(self) -> Tensor:
        r"""Effective sample size over the batch's: $(\sum w)^2 / (n \sum w^2)$, ().

        In (0, 1], and 0 where no sample has a weight.
        """
        n, weight, squares = self.sums[:3]
        return weight.square() / (n * squares).clamp_min(1e-38)

    @property
    def used(self) -> Tensor:
        """Samples that weighed anything, ()."""
        return self.sums[4]
