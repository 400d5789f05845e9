"""Sums of many tensors over all processes, in a few large messages that leave as they fill.

A backward finds gradients from the last layer to the first. Tensors are laid into buckets in that
order, and a bucket is on its way as soon as its last tensor has come, while the backward goes on.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import torch
import torch.distributed as dist
from torch import Tensor

from reweigh.distributed.group import together, traffic
from reweigh.typing import Params

BUCKET_BYTES = 25 * 2**20  # as torch's DistributedDataParallel has it


class Bucket:
    """Tensors of one type and device, flat, behind them one number for each: was it put?"""

    def __init__(self, like: Params) -> None:
        self.names = list(like)
        self.missing = set(like)
        sizes = [t.numel() for t in like.values()]
        first = next(iter(like.values()))
        self.flat = torch.empty(sum(sizes) + len(sizes), dtype=first.dtype, device=first.device)
        *parts, self.given = self.flat.split([*sizes, len(sizes)])
        self.parts = {n: part.view(like[n].shape) for n, part in zip(like, parts, strict=True)}
        self.work: dist.Work | None = None

    def launch(self) -> None:
        """Send what is there; zeros for what is not."""
        self.given.fill_(1.0)
        for name in self.missing:
            self.parts[name].zero_()
            self.given[self.names.index(name)] = 0.0
        traffic.note(self.flat)
        self.work = dist.all_reduce(self.flat, async_op=True)

    def landed(self) -> Params:
        """The sums, of those tensors that any process has put."""
        assert self.work is not None
        self.work.wait()
        if not self.missing:  # nobody's absence matters: a GPU need not be asked
            return self.parts
        put = self.given.tolist()
        return {n: t for (n, t), times in zip(self.parts.items(), put, strict=True) if times > 0}


class Sum:
    """One sum of named tensors over all processes, under way.

    Buckets leave in one order everywhere, whatever order their tensors come in.
    """

    def __init__(self, like: Params) -> None:
        self._buckets = [Bucket(some) for some in _split(like)]
        self._home = {name: bucket for bucket in self._buckets for name in bucket.names}
        self._sent = 0

    def put(self, name: str, tensor: Tensor) -> None:
        """One tensor is ready; its bucket leaves if it is full and all before it have left."""
        bucket = self._home[name]
        bucket.parts[name].copy_(tensor.detach())
        bucket.missing.discard(name)
        while self._sent < len(self._buckets) and not self._buckets[self._sent].missing:
            self._send()

    def missing(self) -> list[str]:
        """Those that nobody put here so far, in the order in which they leave."""
        return [n for bucket in self._buckets for n in bucket.names if n in bucket.missing]

    def finish(self) -> Params:
        """Send the rest and wait: the sums by name; what no process had is left out."""
        while self._sent < len(self._buckets):
            self._send()
        return {name: t for bucket in self._buckets for name, t in bucket.landed().items()}

    def _send(self) -> None:
        self._buckets[self._sent].launch()
        self._sent += 1


def summed(tensors: Params) -> Params:
    """Each tensor's sum over all processes; alone, the tensors themselves."""
    if not together():
        return tensors
    under_way = Sum(tensors)
    for name in reversed(tensors):
        under_way.put(name, tensors[name])
    found = under_way.finish()
    return {name: found[name] for name in tensors}


def summed_list(tensors: list[Tensor]) -> list[Tensor]:
    """The same for tensors without names."""
    return list(summed({str(number): t for number, t in enumerate(tensors)}).values())


@contextmanager
def arriving(leaves: Params) -> Iterator[Callable[[Params], Params]]:
    """Inside, a leaf's gradient is on its way as soon as `torch.autograd.grad` has found it.

    Gives a function from what was found here to the sums over all processes.
    """
    if not together():
        yield lambda found: found
        return
    under_way = Sum(leaves)
    handles = [
        leaf.register_hook(partial(under_way.put, name))  # gives None: the gradient stays
        for name, leaf in leaves.items()
    ]
    try:
        yield lambda found: found | under_way.finish()  # what nobody used is 0 here as well
    finally:
        for handle in handles:
            handle.remove()


def _split(like: Params) -> Iterator[Params]:
    """The tensors from the last to the first, alike ones together, up to a bucket's size."""
    filling: dict[tuple[torch.device, torch.dtype], Params] = {}
    for name in reversed(like):
        t = like[name]
        kind = t.device, t.dtype
        some = filling.get(kind, {})
        size = sum(s.nbytes for s in some.values()) + t.nbytes
        if some and size > BUCKET_BYTES:
            yield filling.pop(kind)
        filling.setdefault(kind, {})[name] = t
    yield from filling.values()
