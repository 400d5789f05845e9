"""The student's gradient, summed over all processes while the backward is still running."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import torch
from torch import Tensor
from torch.optim import Optimizer

from reweigh.distributed.buckets import Sum
from reweigh.distributed.group import together


class Gradients:
    """`.grad` of all that an optimizer moves: local while a batch is accumulated, then global.

    Hooks stand on the parameters for the length of one backward only.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self._sum: Sum | None = None
        self._handles: list[torch.utils.hooks.RemovableHandle] = []
        self._called_back = False

    @contextmanager
    def arriving(self) -> Iterator[None]:
        """The backward inside leaves gradients that are summed over all processes."""
        if not together():
            yield
            return
        self._expect(outside=False)
        try:
            yield
            self._settle()
        finally:
            self.forget()

    def expect(self) -> None:
        """The same for a backward that a loop of somebody else's will do: when it ends, all is done."""
        if together():
            self._expect(outside=True)

    def sum_now(self) -> None:
        """Sum what stands in `.grad`, if no backward does it."""
        if together():
            self._sum = Sum(self._held())
            self._settle()

    def forget(self) -> None:
        """Take the hooks off; nothing more is expected."""
        for handle in self._handles:
            handle.remove()
        self._handles, self._sum, self._called_back = [], None, False

    def _expect(self, *, outside: bool) -> None:
        self.forget()
        held = self._held()
        self._sum = Sum(held)
        for name, p in held.items():
            ready = partial(self._ready, name, outside)
            self._handles.append(p.register_post_accumulate_grad_hook(ready))

    def _ready(self, name: str, outside: bool, p: Tensor) -> None:
        """A backward has added to a parameter's gradient for the last time in this step."""
        assert self._sum is not None
        assert p.grad is not None
        if outside and not self._called_back:
            self._called_back = True
            torch.autograd.Variable._execution_engine.queue_callback(self._settle)
        self._sum.put(name, p.grad)

    @torch.no_grad()
    def _settle(self) -> None:
        """Wait for the sums and put them in place of the local gradients.

        A layer that the last backward left out may hold what an earlier pass of the step gave it.
        """
        assert self._sum is not None
        held = self._held()
        for name in self._sum.missing():
            if (g := held[name].grad) is not None:
                self._sum.put(name, g)
        found = self._sum.finish()
        self.forget()
        for name, g in found.items():
            p = held[name]
            p.grad = g.clone() if p.grad is None else p.grad.copy_(g)

    def _held(self) -> dict[str, Tensor]:
        groups = self.optimizer.param_groups
        held = [p for group in groups for p in group["params"] if p.requires_grad]
        return {str(number): p for number, p in enumerate(held)}
