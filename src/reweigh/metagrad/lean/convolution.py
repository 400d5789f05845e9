r"""Convolution with its two backwards written out, each term computed only where it is asked for.

$y = W * x$ is bilinear. Its backward maps $(g_y, x, W)$ to $g_x = W^\top * g_y$ and
$g_W = g_y \star x$. For cotangents $h_x, h_W$ of these

$$ \partial L/\partial g_y = W * h_x + h_W * x, \qquad
   \partial L/\partial x = h_W^\top * g_y, \qquad \partial L/\partial W = g_y \star h_x, $$

and the last two are *one* call of the convolution's own backward, at input $h_x$ and weight $h_W$.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from reweigh.metagrad.lean.wanted import Wanted

Shape = tuple[list[int], list[int], list[int], int]
"""Stride, padding, dilation and groups."""


def lean_convolution(
    stock: Callable[..., Tensor], dims: int, wanted: Wanted
) -> Callable[..., Tensor]:
    """The lean form of `torch.conv1d`, `conv2d` or `conv3d`, in its own signature."""

    def convolution(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        if isinstance(padding, str) or input.ndim != dims + 2:  # one sample without a batch
            return stock(input, weight, bias, stride, padding, dilation, groups)
        shape = (
            _each(stride, dims),
            _each(padding, dims),
            _each(dilation, dims),
            groups,
        )
        y = _Convolution.apply(_cast(input), _cast(weight), shape, wanted)
        return y if bias is None else y + _cast(bias).view(-1, *[1] * dims)

    return convolution


def _cast(t: Tensor) -> Tensor:
    """As autocast hands it to a convolution: in 16 bits, but not out of float64."""
    kind = t.device.type
    if not torch.is_autocast_enabled(kind) or t.dtype == torch.float64:
        return t
    return t.to(torch.get_autocast_dtype(kind))


def _each(value: Any, dims: int) -> list[int]:
    return (
        [value] * dims
        if isinstance(value, int)
        else [int(v) for v in value] * (dims if len(value) == 1 else 1)
    )


def _forward(x: Tensor, w: Tensor, shape: Shape) -> Tensor:
    stride, padding, dilation, groups = shape
    return torch.ops.aten.convolution(
        x, w, None, stride, padding, dilation, False, [0] * len(stride), groups
    )


def _backward(
    gy: Tensor, x: Tensor, w: Tensor, shape: Shape, need_x: bool, need_w: bool
) -> tuple[Tensor | None, Tensor | None]:
    stride, padding, dilation, groups = shape
    gx, gw, _ = torch.ops.aten.convolution_backward(
        gy, x, w, None, stride, padding, dilation, False, [0] * len(stride), groups,
        [need_x, need_w, False],
    )  # fmt: skip
    return gx if need_x else None, gw if need_w else None


class _Convolution(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor, shape: Shape, wanted: Wanted) -> Tensor:
        ctx.save_for_backward(x, w)
        ctx.shape, ctx.wanted = shape, wanted
        return _forward(x, w, shape)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        x, w = ctx.saved_tensors
        need_x, need_w = ctx.needs_input_grad[:2]
        gx, gw = _ConvolutionBackward.apply(
            grad_outputs[0], x, w, ctx.shape, need_x, need_w, ctx.wanted
        )
        return gx, gw, None, None


class _ConvolutionBackward(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        gy: Tensor,
        x: Tensor,
        w: Tensor,
        shape: Shape,
        need_x: bool,
        need_w: bool,
        wanted: Wanted,
    ) -> tuple[Tensor | None, Tensor | None]:
        ctx.save_for_backward(gy, x, w)
        ctx.set_materialize_grads(False)
        ctx.shape, ctx.wanted = shape, wanted
        return _backward(gy, x, w, shape, need_x, need_w)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride] (the decorator makes ctx positional)
        gy, x, w = ctx.saved_tensors
        hx, hw = grad_outputs[0], _laid_out(grad_outputs[1], w)
        need_gy, need_x, need_w = ctx.needs_input_grad[:3]
        need_x, need_w = need_x and ctx.wanted.theta, need_w and ctx.wanted.theta
        d_gy = _sum(
            _forward(hx, w, ctx.shape) if need_gy and hx is not None else None,
            _forward(x, hw, ctx.shape) if need_gy and hw is not None else None,
        )
        need_x, need_w = need_x and hw is not None, need_w and hx is not None
        d_x = d_w = None
        if need_x or need_w:
            at_x, at_w = x if hx is None else hx, w if hw is None else hw
            d_x, d_w = _backward(gy, at_x, at_w, ctx.shape, need_x, need_w)
        return d_gy, d_x, d_w, None, None, None, None


def _laid_out(hw: Tensor | None, w: Tensor) -> Tensor | None:
    """h_W with the strides of W, from which a convolution takes the layout of what it gives."""
    if hw is None or hw.stride() == w.stride():
        return hw
    return torch.empty_like(w).copy_(hw)


def _sum(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    if a is None or b is None:
        return b if a is None else a
    return a.add_(b)
