"""Which derivatives work on a device: better asked before training than met at step 20."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.nn.attention import SDPBackend, sdpa_kernel


def probe(device: str) -> dict[str, str | None]:
    """For each derivative None when it works on `device`, else the first line of why not."""
    return {name: _attempt(attempt, device) for name, attempt in PROBES.items()}


def _attempt(attempt: Callable[[torch.device], None], device: str) -> str | None:
    with torch.random.fork_rng():
        try:
            attempt(torch.device(device))
        except (RuntimeError, NotImplementedError) as error:
            return str(error).strip().partition("\n")[0]
    return None


def _forward_mode(device: torch.device) -> None:
    """Directional derivative of a loss vector through convolution and BatchNorm."""
    net = _conv_net().to(device)
    x = torch.randn(4, 3, 8, 8, device=device)
    with forward_ad.dual_level():
        out = net(forward_ad.make_dual(x, torch.ones_like(x)))
        tangent = forward_ad.unpack_dual(out).tangent
    if tangent is None or not torch.isfinite(tangent).all():
        raise RuntimeError("forward mode gave no finite directional derivative")


def _conv_double_backward(device: torch.device) -> None:
    net = _conv_net().to(device)
    _twice(net(torch.randn(4, 3, 8, 8, device=device)), list(net.parameters()))


def _lstm_double_backward(device: torch.device) -> None:
    net = nn.LSTM(4, 5, batch_first=True).to(device)
    _twice(net(torch.randn(2, 3, 4, device=device))[0], list(net.parameters()))


def _attention_double_backward(device: torch.device) -> None:
    q = torch.randn(2, 2, 4, 8, device=device, requires_grad=True)
    _twice(nn.functional.scaled_dot_product_attention(q, q, q), [q])


def _math_attention_double_backward(device: torch.device) -> None:
    with sdpa_kernel(SDPBackend.MATH):
        _attention_double_backward(device)


def _conv_net() -> nn.Module:
    # no statistics are kept: the replay switches them off too
    norm = nn.BatchNorm2d(4, track_running_stats=False)
    return nn.Sequential(nn.Conv2d(3, 4, 3), norm, nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))


def _twice(output: Tensor, inputs: list[Tensor]) -> None:
    """Differentiate a squared gradient norm: a second backward through everything."""
    first = torch.autograd.grad(output.square().sum(), inputs, create_graph=True)
    norm = torch.stack([g.square().sum() for g in first]).sum()
    second = torch.autograd.grad(norm, inputs, allow_unused=True)
    if not all(torch.isfinite(g).all() for g in second if g is not None):
        raise RuntimeError("the second backward gave values that are not finite")


PROBES: dict[str, Callable[[torch.device], None]] = {
    "forward mode, conv + BatchNorm": _forward_mode,
    "double backward, conv + BatchNorm": _conv_double_backward,
    "double backward, LSTM": _lstm_double_backward,
    "double backward, attention (MATH kernel)": _math_attention_double_backward,
    "double backward, attention (default kernel)": _attention_double_backward,
}
