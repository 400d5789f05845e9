r"""Gradient clipping as torch does it, and its way back.

By norm: $G = g \cdot \min(1, c/(\lVert g\rVert + 10^{-6}))$. Where it bites, with $n = \lVert g
\rVert$ over all parameters together,

$$ dg = \frac{c}{n + 10^{-6}}\, dG - \frac{c\,\langle g, dG\rangle}{(n + 10^{-6})^2\, n}\; g. $$
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from reweigh.errors import UsageError
from reweigh.typing import Params


@dataclass(frozen=True)
class Clip:
    """`torch.nn.utils.clip_grad_norm_` at a maximal 2-norm."""

    max_norm: float

    def __post_init__(self) -> None:
        number = isinstance(self.max_norm, int | float)
        if not number or not 0 < self.max_norm < float("inf"):
            raise UsageError(f"clip_norm must be a positive number, not {self.max_norm!r}")

    def apply(self, parameters: Iterable[Tensor]) -> None:
        """Clip the gradients in place."""
        torch.nn.utils.clip_grad_norm_(parameters, self.max_norm)

    @torch.no_grad()
    def apply_once(self, parameters: Iterable[Tensor]) -> None:
        """The same for gradients that a loop may have clipped already: those within stay to the bit."""
        gradients = [p.grad for p in parameters if p.grad is not None]
        n = torch.nn.utils.get_total_norm(gradients)
        factor = torch.where(n > self.max_norm, self.max_norm / (n + 1e-6), 1.0)
        for g in gradients:
            g.mul_(factor.to(g.device))

    def clipped(self, gradient: Params) -> Params:
        """G from g, not in place."""
        factor = (self.max_norm / (_norm(gradient) + 1e-6)).clamp(max=1.0)
        return {name: factor * g for name, g in gradient.items()}

    def adjoint(self, gradient: Params, d_clipped: Params) -> Params:
        """dg from dG; `gradient` is g, before clipping."""
        n = _norm(gradient)
        c = self.max_norm / (n + 1e-6)
        inner = torch.stack([(gradient[k] * dG).sum() for k, dG in d_clipped.items()]).sum()
        bites = (c < 1).to(n.dtype)
        keep = bites * c + (1 - bites)
        along = bites * c * inner / ((n + 1e-6) * n).clamp_min(torch.finfo(n.dtype).tiny)
        return {k: keep * dG - along * gradient[k] for k, dG in d_clipped.items()}


def _norm(gradient: Params) -> Tensor:
    """The 2-norm of all gradients together."""
    return torch.nn.utils.get_total_norm(gradient.values())
