"""The processes that train one student: torch's default group, or this process alone.

Alone, every function here gives back what it was given. All processes of a group must call the same
functions in the same order, as with any collective.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

T = TypeVar("T")


@dataclass
class Traffic:
    """What this process has handed to the group for summing or sharing, before any algorithm's factor."""

    bytes: int = 0

    def note(self, x: Tensor) -> None:
        """One more collective on x."""
        self.bytes += x.numel() * x.element_size()


traffic = Traffic()


class _Mode:
    alone = False


def together() -> bool:
    """Whether other processes take part."""
    return not _Mode.alone and dist.is_initialized() and dist.get_world_size() > 1


def world() -> int:
    """How many processes train together; 1 alone."""
    return dist.get_world_size() if together() else 1


def rank() -> int:
    """Which of them this is, from 0; the first one writes and speaks."""
    return dist.get_rank() if together() else 0


@contextmanager
def alone() -> Iterator[None]:
    """Inside, this process stands for itself though a group exists: for runs that are not shared."""
    before, _Mode.alone = _Mode.alone, True
    try:
        yield
    finally:
        _Mode.alone = before


def total(x: Tensor) -> Tensor:
    """Σ of x over all processes, on all of them; differentiable as often as wanted, both ways.

    The objective is meant to be the sum of what each process goes backward over. Then x feeds all
    their terms, so that the cotangents are summed, too.
    """
    return _Total.apply(x) if together() else x


class _Total(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return summed_in_place(x.detach().clone(memory_format=torch.contiguous_format))

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        return _Total.apply(grad_outputs[0])

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        return _Total.forward(ctx, grad_inputs[0])


def summed_in_place(x: Tensor) -> Tensor:
    """Σ over all processes, written over x, which must be contiguous."""
    traffic.note(x)
    dist.all_reduce(x)
    return x


def any_of(flag: bool) -> bool:
    """Whether any process says yes; all get the same answer."""
    if not together():
        return flag
    votes = torch.tensor(int(flag), device=_desk())
    return bool(summed_in_place(votes))


def gathered(x: Tensor) -> Tensor:
    """The parts (n_r, …) of all processes behind each other, (Σ n_r, …); cut off from any graph."""
    if not together():
        return x
    sizes = _sizes(len(x))
    part = x.new_zeros((max(sizes), *x.shape[1:]))
    part[: len(x)] = x.detach()
    parts = [torch.empty_like(part) for _ in sizes]
    traffic.note(part)
    dist.all_gather(parts, part)
    return torch.cat([p[:n] for p, n in zip(parts, sizes, strict=True)])


def own_rows(whole: Tensor, count: int) -> Tensor:
    """Of what was gathered, the `count` rows that this process gave."""
    start = sum(_sizes(count)[: rank()])
    return whole[start : start + count]


def _sizes(count: int) -> list[int]:
    """Everybody's count, by rank."""
    counts = torch.zeros(world(), dtype=torch.int64, device=_desk())
    counts[rank()] = count
    return summed_in_place(counts).tolist()


def own_part(x: Tensor) -> Tensor:
    """This process's share of x's first dimension: consecutive, as equal as can be."""
    return x.tensor_split(world())[rank()] if together() and x.ndim else x


def gathered_objects(value: T) -> list[T]:
    """Everybody's plain values, by rank: for rare and small things."""
    if not together():
        return [value]
    found: list[Any] = [None] * world()
    dist.all_gather_object(found, value)
    return found


def gathered_on_first(value: T) -> list[T]:
    """Everybody's plain values, by rank, on the first process; elsewhere nothing."""
    if not together():
        return [value]
    found: list[Any] | None = [None] * world() if rank() == 0 else None
    dist.gather_object(value, found)
    return found or []


def from_first(make: Callable[[], T]) -> T:
    """What the first process makes, for all; where that fails, all fail alike."""
    if not together():
        return make()
    said: list[Any] = [None, None]
    if rank() == 0:
        try:
            said[0] = make()
        except Exception as error:  # noqa: BLE001 (handed on, and raised below)
            said[1] = error
    dist.broadcast_object_list(said, 0)
    if said[1] is not None:
        raise said[1]
    return said[0]


@torch.no_grad()
def same_as_first(*tensors: Tensor) -> None:
    """Give all processes the first one's values."""
    if not together():
        return
    for held in tensors:
        same = held.detach().contiguous()
        dist.broadcast(same, 0)
        held.copy_(same)


def _desk() -> torch.device:
    """Where small messages are written: the CPU, unless the group can speak on GPUs only."""
    if "gloo" in str(dist.get_backend_config()) or "mpi" in str(dist.get_backend_config()):
        return torch.device("cpu")
    return torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
