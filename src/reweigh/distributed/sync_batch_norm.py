r"""Batch normalisation over the batch of all processes, differentiable as often as wanted.

$\mu = \frac1M \sum x$ and $\sigma^2 = \frac1M \sum (x - \mu)^2$ with sums over all processes, so that a
student computes in many processes what it computes in one. torch's own `SyncBatchNorm` has no second
derivative; this one is made of differentiable sums, and costs two small messages a layer and pass.
"""

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from reweigh.distributed.group import together, total
from reweigh.errors import UnsupportedError

_STOCK = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


class SynchronisedBatchNorm(_BatchNorm):
    """A `BatchNorm1d`, `2d` or `3d` with the same parameters, buffers and names."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim < 2:
            raise ValueError(f"expected (n, channels, …), got {input.ndim} dimension(s)")

    def forward(self, input: Tensor) -> Tensor:
        """Normalise; in evaluation mode, and in one process, as the stock layer does."""
        batch_statistics = self.training or self.running_mean is None
        if not (batch_statistics and together()):
            return super().forward(input)
        self._check_input_dim(input)
        x = input.to(torch.promote_types(input.dtype, torch.float32))
        others = [0, *range(2, x.ndim)]
        m = total(torch.full((), x.numel() // x.shape[1], dtype=x.dtype, device=x.device))
        mean = total(x.sum(others)) / m  # (c,)
        centred = x - _channels(mean, x)
        variance = total(centred.square().sum(others)) / m  # (c,)
        if self.training and self.track_running_stats:
            self._remember(mean, variance * m / (m - 1))
        y = centred * _channels((variance + self.eps).rsqrt(), x)
        if self.affine:
            y = y * _channels(self.weight, x) + _channels(self.bias, x)
        return y.to(input.dtype)

    @torch.no_grad()
    def _remember(self, mean: Tensor, variance: Tensor) -> None:
        """Move the running statistics, as the stock layer does."""
        if self.running_mean is None or self.running_var is None:
            return
        assert self.num_batches_tracked is not None
        self.num_batches_tracked.add_(1)
        rate = self.momentum if self.momentum is not None else 1 / self.num_batches_tracked
        for held, new in ((self.running_mean, mean), (self.running_var, variance)):
            held.copy_((1 - rate) * held + rate * new.detach().to(held.dtype))


def sync_batch_norm(module: nn.Module) -> nn.Module:
    """The same student, its batch normalisations taken over all processes from now on.

    A layer stays what it is but for its class: parameters, hooks and all its names.
    """
    layers = [layer for layer in module.modules() if isinstance(layer, _STOCK)]
    for layer in layers:
        if type(layer) not in _STOCK:
            raise UnsupportedError(
                f"{type(layer).__name__} is a batch normalisation with something of its own, which "
                "would be lost: build the student with torch's, or normalise over fewer samples "
                "(GroupNorm)"
            )
    for layer in layers:
        setattr(layer, "__class__", SynchronisedBatchNorm)  # noqa: B010 (what types do not allow)
    return module


def _channels(v: Tensor, like: Tensor) -> Tensor:
    return v.view(1, -1, *[1] * (like.ndim - 2))
