r"""Batch normalisation in training mode, with its two backwards written out.

Per channel, over the m values of a batch: $\hat x = (x - \mu) r$, $y = \gamma \hat x + \beta$,
$r = 1/\sqrt{\sigma^2 + \epsilon}$. With the projection
$P a = a - \overline{a} - \hat x\, \overline{a \hat x}$ (symmetric) the first backward is

$$ g_x = \gamma r P g_y, \quad g_\gamma = \sum g_y \hat x, \quad g_\beta = \sum g_y. $$

For cotangents $h_x, h_\gamma, h_\beta$ of these, $L = \langle h_x, g_x\rangle + \langle h_\gamma,
g_\gamma\rangle + \langle h_\beta, g_\beta\rangle$ has, with $Q = \langle h_x, P g_y \rangle$,
$a = \overline{g_y \hat x}$ and $b = \overline{h_x \hat x}$,

$$ \partial L/\partial g_y = \gamma r P h_x + h_\gamma \hat x + h_\beta, \qquad
   \partial L/\partial \gamma = r Q, $$
$$ \partial L/\partial x = r\,[(h_\gamma - \gamma r b) P g_y - \gamma r a P h_x]
   - \gamma Q r^2 \hat x / m. $$

$r P$ is what the fused backward kernel computes without a weight, so every term is a fused call or
one multiply-add over the activations.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from reweigh.metagrad.lean.wanted import Wanted

_PRECISIONS = {
    (torch.float32, torch.float32),
    (torch.float64, torch.float64),
    (torch.bfloat16, torch.float32),  # under autocast: 16 bits over the activations only
    (torch.float16, torch.float32),
}
"""Of x, and of γ, β and all statistics."""


def lean_batch_norm(wanted: Wanted) -> Callable[..., Tensor]:
    """The lean form of `F.batch_norm`, in its own signature."""

    def batch_norm(
        input: Tensor,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        weight: Tensor | None = None,
        bias: Tensor | None = None,
        training: bool = False,
        momentum: float = 0.1,
        eps: float = 1e-5,
    ) -> Tensor:
        single = input.numel() == input.shape[1]  # one value per channel is stock's to refuse
        known = weight is not None and (input.dtype, weight.dtype) in _PRECISIONS
        if bias is None or not known or not training or single:
            return F.batch_norm(
                input, running_mean, running_var, weight, bias, training, momentum, eps
            )
        return _BatchNorm.apply(
            input, weight, bias, running_mean, running_var, momentum, eps, wanted
        )

    return batch_norm


def _rp(h: Tensor, x: Tensor, mean: Tensor, r: Tensor, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """r·P h, Σ h x̂ and Σ h, by the fused backward of an affine-free normalisation."""
    one = torch.ones_like(mean)
    return torch.ops.aten.native_batch_norm_backward(
        h, x, one, None, None, mean, r, True, eps, [True, True, True]
    )


def _channels(v: Tensor, like: Tensor) -> Tensor:
    return v.view(1, -1, *[1] * (like.ndim - 2))


class _BatchNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        gamma: Tensor,
        beta: Tensor,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        momentum: float,
        eps: float,
        wanted: Wanted,
    ) -> Tensor:
        y, mean, r = torch.ops.aten.native_batch_norm(
            x, gamma, beta, running_mean, running_var, True, momentum, eps
        )
        ctx.save_for_backward(x, gamma, mean, r)
        ctx.eps, ctx.wanted = eps, wanted
        return y

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        x, gamma, mean, r = ctx.saved_tensors
        gx, g_gamma, g_beta = _BatchNormBackward.apply(
            grad_outputs[0], x, gamma, mean, r, ctx.eps, ctx.wanted
        )
        return gx, g_gamma, g_beta, None, None, None, None, None


class _BatchNormBackward(torch.autograd.Function):
    """(g_y, x, γ) ↦ (g_x, g_γ, g_β); x's own statistics count as functions of x."""

    @staticmethod
    def forward(
        ctx: Any,
        gy: Tensor,
        x: Tensor,
        gamma: Tensor,
        mean: Tensor,
        r: Tensor,
        eps: float,
        wanted: Wanted,
    ) -> tuple[Tensor, Tensor, Tensor]:
        gx, g_gamma, g_beta = torch.ops.aten.native_batch_norm_backward(
            gy, x, gamma, None, None, mean, r, True, eps, [True, True, True]
        )
        ctx.save_for_backward(gy, x, gamma, mean, r, g_gamma)
        ctx.eps, ctx.wanted = eps, wanted
        return gx, g_gamma, g_beta

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride] (the decorator makes ctx positional)
        hx, h_gamma, h_beta = grad_outputs
        gy, x, gamma, mean, r, g_gamma = ctx.saved_tensors
        ph, sum_hx_xhat, _ = _rp(hx, x, mean, r, ctx.eps)  # r P h_x, m b
        need_gy, need_x, need_gamma = ctx.needs_input_grad[:3]
        d_gy = d_x = d_gamma = None
        if need_gy:
            d_gy = _combine(x, (h_gamma * r, x), (gamma, ph), h_beta - h_gamma * r * mean)
        if ctx.wanted.theta and (need_x or need_gamma):
            pg = _rp(gy, x, mean, r, ctx.eps)[0]  # r P g_y
            rq = (hx * pg).sum([0, *range(2, x.ndim)], dtype=r.dtype)  # r Q
            d_gamma = rq
            if need_x:
                m = x.numel() / x.shape[1]
                c_g = h_gamma - gamma * r * sum_hx_xhat / m
                c_h = -gamma * r * g_gamma / m
                c_x = -gamma * rq * r * r / m
                d_x = _combine(x, (c_g, pg), (c_h, ph), -c_x * mean)
                d_x.addcmul_(_channels(c_x, x), x)
        return d_gy, d_x, d_gamma, None, None, None, None


def _combine(
    like: Tensor,
    first: tuple[Tensor, Tensor],
    second: tuple[Tensor, Tensor],
    constant: Tensor,
) -> Tensor:
    """first₀·first₁ + second₀·second₁ + constant, the coefficients one per channel."""
    (a, u), (b, v) = first, second
    out = torch.addcmul(_channels(constant, like), _channels(a, like), u)
    return out.addcmul_(_channels(b, like), v)
