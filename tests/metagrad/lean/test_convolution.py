"""Lean convolutions: the stock's numbers in value, first and second derivative."""

import pytest
import torch

from reweigh.metagrad.lean import SecondOrder
from reweigh.metagrad.lean.convolution import lean_convolution
from reweigh.metagrad.lean.wanted import Wanted

STOCK = {1: torch.conv1d, 2: torch.conv2d, 3: torch.conv3d}
SHAPES = [
    {},
    {"stride": 2, "padding": 1},
    {"dilation": 2, "padding": 2},
    {"groups": 2},
    {"stride": (2,), "padding": (1,)},
    {"bias": False},
    {"padding": "same"},
]


def parts(dims, shape):
    draw = torch.Generator().manual_seed(dims)
    shape = dict(shape)
    groups = shape.get("groups", 1)

    def leaf(*size):
        return torch.randn(*size, generator=draw, dtype=torch.float64).requires_grad_()

    x, w = leaf(2, 2, *[5] * dims), leaf(4, 2 // groups, *[3] * dims)
    b = leaf(4) if shape.pop("bias", True) else None
    return x, w, b, shape


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_equals_stock_double_backward(dims, shape):
    x, w, b, shape = parts(dims, shape)
    leaves = [x, w] + ([b] if b is not None else [])

    def second(convolution):
        y = convolution(x, w, b, **shape)
        scale = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view(y.shape)
        first = torch.autograd.grad((y.sin() * scale).sum(), leaves, create_graph=True)
        aim = sum((g * g).sum() for g in first)
        return [y, *first, *torch.autograd.grad(aim, leaves)]

    lean = second(lean_convolution(STOCK[dims], dims, Wanted()))
    for ours, stock in zip(lean, second(STOCK[dims]), strict=True):
        torch.testing.assert_close(ours, stock, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dims", [1, 2])
def test_gradcheck(dims):
    x, w, b, _ = parts(dims, {})
    lean = lean_convolution(STOCK[dims], dims, Wanted())

    def call(x, w, b):
        return lean(x, w, b, stride=2, padding=1)

    assert torch.autograd.gradcheck(call, (x, w, b))
    assert torch.autograd.gradgradcheck(call, (x, w, b))


def test_one_sample_without_a_batch_dimension_falls_through():
    x, w, b, _ = parts(2, {})
    with SecondOrder(Wanted()):
        y = torch.conv2d(x[0], w, b)
    assert y.shape == (4, 3, 3)
    torch.testing.assert_close(y, torch.conv2d(x[0], w, b))


@pytest.mark.parametrize("inside", [True, False])
def test_the_mode_reaches_modules_and_ends(inside):
    layer = torch.nn.Conv2d(2, 3, 3)
    x = torch.randn(1, 2, 4, 4)
    with SecondOrder(Wanted()):
        y = layer(x) if inside else None
    y = layer(x) if y is None else y
    names = {type(f).__name__ for f, _ in [(y.grad_fn, 0), *y.grad_fn.next_functions]}
    assert ("_ConvolutionBackward" in names) is inside


def test_autocast_gives_the_types_of_stock_and_no_more_rounding():
    """Against float32: as near as the stock second backward, which works in 16 bits as well."""
    x, w, b, _ = parts(2, {})
    single = [t.detach().float().requires_grad_() for t in (x, w, b)]

    def second(convolution, *, on=True):
        with torch.autocast("cpu", torch.bfloat16, enabled=on):
            y = convolution(*single, padding=1)
        first = torch.autograd.grad(y.float().sin().sum(), single, create_graph=True)
        aim = sum((g * g).sum() for g in first)
        return [y, *first, *torch.autograd.grad(aim, single)]

    lean = lean_convolution(torch.conv2d, 2, Wanted())
    exact = second(torch.conv2d, on=False)
    for ours, stock, right in zip(second(lean), second(torch.conv2d), exact, strict=True):
        assert ours.dtype == stock.dtype
        off = [((t.float() - right).norm() / right.norm()).item() for t in (ours, stock)]
        assert off[0] < 1.5 * off[1] + 1e-3, off


def test_autocast_leaves_float64_alone():
    x, w, b, _ = parts(2, {})
    with torch.autocast("cpu", torch.bfloat16), SecondOrder(Wanted()):
        assert torch.conv2d(x, w, b).dtype == torch.float64


def test_pruning_to_the_weights_changes_no_slope():
    x, w, b, _ = parts(2, {})
    levers = torch.rand(2, dtype=torch.float64, requires_grad=True)
    wanted = Wanted()
    with SecondOrder(wanted):
        losses = (
            torch.conv2d(torch.conv2d(x.detach(), w, b).tanh(), w.repeat(1, 2, 1, 1))
            .sin()
            .sum((1, 2, 3))
        )
    g = torch.autograd.grad((levers * losses).sum(), [w, b], create_graph=True)
    u = [torch.ones_like(p) for p in (w, b)]
    full = torch.autograd.grad(g, [levers, w], u, retain_graph=True)[0]
    wanted.theta = False
    pruned = torch.autograd.grad(g, [levers], u, retain_graph=True)[0]
    assert torch.equal(full, pruned)
    assert full.abs().min() > 0


def test_what_comes_back_lies_in_memory_as_the_answer_did():
    """Of one input channel a weight is contiguous in two layouts at once, and sums of it lose theirs."""
    x, v = torch.randn(2, 1, 6, 6), torch.randn(2, 4, 6, 6, requires_grad=True)
    w = torch.randn(4, 1, 3, 3).to(memory_format=torch.channels_last).requires_grad_()
    y = lean_convolution(torch.conv2d, 2, Wanted())(x, w, padding=1)
    (g,) = torch.autograd.grad((y * v).sum(), w, create_graph=True)
    h = torch.randn(4, 1, 3, 3)
    (back,) = torch.autograd.grad(g, v, h)
    assert y.is_contiguous(memory_format=torch.channels_last)
    assert not y.is_contiguous()
    assert back.stride() == y.stride()
    torch.testing.assert_close(back, torch.conv2d(x, h, padding=1))
