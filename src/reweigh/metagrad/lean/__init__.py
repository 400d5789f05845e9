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
from reweigh.metagrad.lean.wanted import Wanted


class LeanSecondOrder(TorchFunctionMode):
    """Inside, batch normalisation and convolutions build graphs with the lean second backward."""

    def __init__(self, wanted: Wanted) -> None:
        super().__init__()
        self._replaced: dict[Callable[..., Any], Callable[..., Any]] = {
            F.batch_norm: lean_batch_norm(wanted),
            torch.conv1d: lean_convolution(torch.conv1d, 1, wanted),
            torch.conv2d: lean_convolution(torch.conv2d, 2, wanted),
            torch.conv3d: lean_convolution(torch.conv3d, 3, wanted),
        }

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Route the two kinds of layers to their lean forms; everything else runs as it is."""
        return self._replaced.get(func, func)(*args, **(kwargs or {}))
