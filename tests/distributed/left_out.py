"""Each sum over the processes, left out: the check that must then come out otherwise.

Left out of this list are the sums by which processes agree (to stop at a NaN, at a signal): without
them one waits for the other until the time is over.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest import mock

import torch
from tests.distributed.checks import SAME

from reweigh.distributed import group
from reweigh.student.seen import Seen


def same(value: Any) -> Any:
    return value


def nothing(*_: Any) -> None:
    pass


def detached(seen: Seen) -> Seen:
    return seen.detached()


@contextmanager
def here(_: Any) -> Iterator[Callable[[Any], Any]]:
    yield same


def own_jvp(ctx: Any, *tangents: Any) -> Any:
    return tangents[0].clone()


class _OnlySome:
    """A total that sums all calls but every third, from the one of this number on."""

    def __init__(self, number: int) -> None:
        self.left = number

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.left -= 1
        if self.left == -1:
            self.left = 2
            return x * 1
        return group.total(x)


METAGRAD, TEACHERS = "reweigh.metagrad", "reweigh.teachers.base"
GRADIENTS = "reweigh.distributed.gradients.Gradients"
SYNC = "reweigh.distributed.sync_batch_norm.total"

LEFT_OUT: dict[str, tuple[str, Any, str]] = {
    "figures of the batch": ("reweigh.stepping.figures.total", same, "weights"),
    "normaliser in dω": (f"{TEACHERS}.total", same, "meta-gradient, kept"),
    "its derivative": (f"{group.__name__}._Total.backward", staticmethod(lambda _, g: g), "deeper"),
    "its tangent": (f"{group.__name__}._Total.jvp", staticmethod(own_jvp), "one step back, SyncBN"),
    "count of trusted samples": (f"{METAGRAD}.engine.total", same, "meta-gradient, kept"),
    "trusted gradient": (f"{METAGRAD}.engine.arriving", here, "meta-gradient, kept"),
    "Hessian-vector product": (f"{METAGRAD}.directional.arriving", here, "meta-gradient, kept"),
    "its finite difference": (f"{METAGRAD}.directional.summed", same, "finite differences"),
    "recomputed gradient": (f"{METAGRAD}.recursion.summed", same, "meta-gradient, reversal"),
    "dω": (f"{METAGRAD}.recursion.summed_list", same, "meta-gradient, kept"),
    "virtual step": (f"{METAGRAD}.lookahead.summed", same, "look-ahead"),
    "dω of look-ahead": (f"{METAGRAD}.lookahead.summed_list", same, "look-ahead"),
    "gradient": (f"{GRADIENTS}.arriving", lambda _: nullcontext(), "one step back, forward mode"),
    "gradient of kept steps": (f"{GRADIENTS}.sum_now", nothing, "meta-gradient, kept"),
    "gradient of other loops": (f"{GRADIENTS}.expect", nothing, "outside, loss"),
    "sight of trusted samples": ("reweigh.teachers.base.gathered_seen", detached, "agreement"),
    "sight of the batch": (f"{TEACHERS}.together", lambda: False, "self-paced"),
    "shaped loss": ("reweigh.methods.l2t_loss.total", same, "meta-gradient, shaped loss"),
    "first values": ("reweigh.reweigher.same_as_first", nothing, "differing start"),
    "count of SyncBN": (SYNC, _OnlySome(0), "meta-gradient, SyncBN"),
    "mean of SyncBN": (SYNC, _OnlySome(1), "meta-gradient, SyncBN"),
    "variance of SyncBN": (SYNC, _OnlySome(2), "meta-gradient, SyncBN"),
}


def without(name: str) -> dict[str, Any]:
    """The check that needs this sum, done without it."""
    target, stand_in, check = LEFT_OUT[name]
    with mock.patch(target, stand_in):
        return SAME[check]()
