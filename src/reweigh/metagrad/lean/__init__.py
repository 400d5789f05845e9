"""Exact second derivatives at less cost than the stock ones, layer kind by layer kind.

The stock double backward of BatchNorm is a chain of some forty memory-bound operations (6 × its
plain pass), and that of a convolution computes terms that nobody asked for. `SecondOrder`
replaces both, for the length of a recorded forward pass, by autograd functions whose first and
second backward are written out. Same mathematics, same results up to rounding.

Weight normalisation is written out as well: in torch 2.13 the second backward of its fused kernel
takes the norms for constants, and is wrong.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

from reweigh.metagrad.lean.batch_norm import lean_batch_norm
from reweigh.metagrad.lean.convolution import lean_convolution
from reweigh.metagrad.lean.wanted import Wanted


class SecondOrder(TorchFunctionMode):
    """Inside, layers build graphs whose second backward is right and, if `lean`, cheap."""

    def __init__(self, wanted: Wanted, *, lean: bool = True) -> None:
        super().__init__()
        self._replaced: dict[Callable[..., Any], Callable[..., Any]] = {
            torch._weight_norm: _weight_norm  # pyright: ignore[reportPrivateImportUsage]
        }
        cheap: dict[Callable[..., Any], Callable[..., Any]] = {
            F.batch_norm: lean_batch_norm(wanted),
            torch.conv1d: lean_convolution(torch.conv1d, 1, wanted),
            torch.conv2d: lean_convolution(torch.conv2d, 2, wanted),
            torch.conv3d: lean_convolution(torch.conv3d, 3, wanted),
        }
        self._replaced |= cheap if lean else {}

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Route these kinds of layers to forms of ours; everything else runs as it is."""
        return self._replaced.get(func, func)(*args, **(kwargs or {}))


def _weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> Tensor:
    r"""$g\, v / \lVert v \rVert$, the norm over all dimensions but `dim`; over all of them for -1."""
    return v * (g / torch.norm_except_dim(v, 2, dim))
