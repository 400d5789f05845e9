"""Which kernels recorded steps and their replays run with: some fast ones have no second or no
forward derivative."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from reweigh.metagrad.lean import SecondOrder
from reweigh.metagrad.lean.wanted import Wanted


@dataclass(frozen=True)
class Kernels:
    """Choices for recorded passes and their replays; steps that are not recorded are never touched."""

    plain_attention: bool = False
    """Attention by the MATH kernel: the fused ones have no second derivative."""
    plain_recurrence: bool = False
    """Recurrent layers without cuDNN, whose backward cannot be differentiated."""
    forward_mode: bool = True
    """Directional derivatives by dual numbers; else by a second backward."""
    lean: bool = True
    """Layers' second derivatives written out; stock ones can be recomputed and differentiated on."""

    @contextmanager
    def second_order(self, wanted: Wanted) -> Iterator[None]:
        """For passes whose graph is differentiated again, as far as `wanted` says."""
        with self.first_order(), SecondOrder(wanted, lean=self.lean):
            yield

    @contextmanager
    def first_order(self) -> Iterator[None]:
        """For recorded passes, and for replays with dual numbers."""
        with ExitStack() as stack:
            if self.plain_attention:
                stack.enter_context(sdpa_kernel(SDPBackend.MATH))
            if self.plain_recurrence:
                stack.enter_context(torch.backends.cudnn.flags(enabled=False))
            yield

    def __str__(self) -> str:
        said = [
            "attention by the MATH kernel" if self.plain_attention else "",
            "recurrent layers without cuDNN" if self.plain_recurrence else "",
            "" if self.forward_mode else "directional derivatives by a second backward",
            "" if self.lean else "torch's own second derivatives",
        ]
        return ", ".join(part for part in said if part) or "stock kernels"
