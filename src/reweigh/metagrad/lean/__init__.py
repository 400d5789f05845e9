"""Exact second derivatives at less cost than the stock ones, layer kind by layer kind.

The stock double backward of BatchNorm is a chain of some forty memory-bound operations (6 × its
plain pass), and that of a convolution computes terms that nobody asked for. `LeanSecondOrder`
replaces both, for the length of a recorded forward pass, by autograd functions whose first and
second backward are written out. Same mathematics, same results up to rounding.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from reweigh.metagrad.lean.batch_norm import lean_batch_norm
from reweigh.metagrad.lean.convolution import lean_convolution

_REPLACED: dict[Callable[..., Any], Callable[..., Any]] = {
    F.batch_norm: lean_batch_norm,
    torch.conv1d: lean_convolution(torch.conv1d, 1),
    torch.conv2d: lean_convolution(torch.conv2d, 2),
    torch.conv3d: lean_convolution(torch.conv3d, 3),
}


class LeanSecondOrder(TorchFunctionMode):
    """Inside, batch normalisation and convolutions build graphs with the lean second backward."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Route the two kinds of layers to their lean forms; everything else runs as it is."""
        return _REPLACED.get(func, func)(*args, **(kwargs or {}))
