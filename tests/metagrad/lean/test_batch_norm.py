"""Lean batch normalisation: the stock's numbers in value, first and second derivative."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from reweigh.metagrad.lean import SecondOrder
from reweigh.metagrad.lean.batch_norm import lean_batch_norm
from reweigh.metagrad.lean.wanted import Wanted

SIZES = [(5, 3), (4, 3, 6), (4, 3, 2, 3), (2, 3, 2, 2, 2)]


def leaves(size):
    draw = torch.Generator().manual_seed(0)

    def leaf(*shape):
        return torch.randn(*shape, generator=draw, dtype=torch.float64).requires_grad_()

    return leaf(*size), leaf(3), leaf(3)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_equals_stock_double_backward(size):
    x, weight, bias = leaves(size)

    def second(normalise):
        y = normalise(x, None, None, weight, bias, training=True)
        scale = torch.linspace(-1, 2, y.numel(), dtype=y.dtype).view(y.shape)
        first = torch.autograd.grad((y.sin() * scale).sum(), (x, weight, bias), create_graph=True)
        aim = sum((g.sin() * k).sum() for k, g in enumerate(first, 1))
        return [y, *first, *torch.autograd.grad(aim, (x, weight, bias))]

    for ours, stock in zip(second(lean_batch_norm(Wanted())), second(F.batch_norm), strict=True):
        torch.testing.assert_close(ours, stock, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("size", SIZES[:3], ids=str)
def test_gradcheck(size):
    def call(x, weight, bias):
        return lean_batch_norm(Wanted())(x, None, None, weight, bias, training=True)

    assert torch.autograd.gradcheck(call, leaves(size))
    assert torch.autograd.gradgradcheck(call, leaves(size))


def test_running_statistics_move_as_in_stock():
    x = torch.randn(6, 3, 2, 2)
    lean, stock = nn.BatchNorm2d(3, momentum=None), nn.BatchNorm2d(3, momentum=None)
    for _ in range(2):
        with SecondOrder(Wanted()):
            ours = lean(x)
        torch.testing.assert_close(ours, stock(x))
    for name, buffer in stock.named_buffers():
        assert torch.equal(dict(lean.named_buffers())[name], buffer), name


def test_fixed_statistics_and_missing_affine_parts_are_stock():
    x = torch.randn(6, 3)
    for layer in (nn.BatchNorm1d(3).eval(), nn.BatchNorm1d(3, affine=False)):
        with SecondOrder(Wanted()):
            ours = layer(x)
        assert "_BatchNorm" not in type(ours.grad_fn).__name__
        torch.testing.assert_close(ours, layer(x))


def test_one_value_per_channel_is_refused_as_in_stock():
    layer = nn.BatchNorm1d(3)
    with (
        pytest.raises(ValueError, match="more than 1 value per channel"),
        SecondOrder(Wanted()),
    ):
        layer(torch.randn(1, 3))
    assert torch.isfinite(layer.running_var).all()


def test_inputs_of_16_bits_give_the_types_of_stock_and_no_more_rounding():
    """As under autocast: γ and β in float32, against a stock layer that has all of it so."""
    draw = torch.Generator().manual_seed(0)
    x16 = torch.randn(8, 3, 5, 5, generator=draw).bfloat16()

    def second(normalise, dtype):
        x = x16.to(dtype).requires_grad_()
        affine = [torch.tensor(v, requires_grad=True) for v in ([0.5, 1.0, 2.0], [0.3, 0.0, -1.0])]
        y = normalise(x, None, None, *affine, training=True)
        first = torch.autograd.grad(y.float().sin().sum(), [x, *affine], create_graph=True)
        aim = sum((g.float() ** 2).sum() for g in first)
        return [y, *first, *torch.autograd.grad(aim, [x, *affine])]

    lean = second(lean_batch_norm(Wanted()), torch.bfloat16)
    assert "_BatchNorm" in type(lean[0].grad_fn).__name__
    stock, exact = (second(F.batch_norm, d) for d in (torch.bfloat16, torch.float32))
    for ours, theirs, right in zip(lean, stock, exact, strict=True):
        assert ours.dtype == theirs.dtype
        off = [((t.float() - right).norm() / right.norm()).item() for t in (ours, theirs)]
        assert off[0] < 1.5 * off[1] + 1e-3, off


def test_weights_of_16_bits_are_stock():
    layer = nn.BatchNorm2d(3).bfloat16()
    with SecondOrder(Wanted()):
        y = layer(torch.randn(2, 3, 4, 4).bfloat16())
    assert "_BatchNorm" not in type(y.grad_fn).__name__


def test_pruning_to_the_weights_changes_no_slope():
    x, weight, bias = leaves((4, 3, 2, 3))
    levers = torch.rand(4, dtype=torch.float64, requires_grad=True)
    wanted = Wanted()
    with SecondOrder(wanted):
        h = F.batch_norm(x.detach(), None, None, weight, bias, training=True).tanh()
        losses = F.batch_norm(h, None, None, bias, weight, training=True).sin().sum((1, 2, 3))
    g = torch.autograd.grad((levers * losses).sum(), [weight, bias], create_graph=True)
    u = [torch.ones_like(p) for p in (weight, bias)]
    full = torch.autograd.grad(g, [levers, weight], u, retain_graph=True)[0]
    wanted.theta = False
    pruned = torch.autograd.grad(g, [levers], u, retain_graph=True)[0]
    assert torch.equal(full, pruned)
    assert full.abs().min() > 0
