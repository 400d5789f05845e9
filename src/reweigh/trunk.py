"""The first layers of a pass, so that a second pass may begin where they end.

In convolutional networks the layers of the large maps come first, and their work is the dearest. A
second pass, with other parameters, that takes from the first one what they gave costs no more than
what comes after them. `finding_trunk` says which they are.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

from torch import Tensor, nn


class Trunk:
    """What some modules give in a first pass, for a second one."""

    def __init__(self, modules: Sequence[nn.Module] = ()) -> None:
        self.modules = modules
        self.given: dict[nn.Module, Tensor] = {}
        self._again = False

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Inside, what the modules give is kept. Afterwards nothing is."""
        before = [m.__dict__.get("forward") for m in self.modules]
        try:
            for m in self.modules:
                m.__dict__["forward"] = self._in_place_of(m, m.forward)
            yield
        finally:
            for m, own in zip(self.modules, before, strict=True):
                m.__dict__.pop("forward", None)
                if own is not None:
                    m.__dict__["forward"] = own
            self.given = {}

    @contextmanager
    def again(self) -> Iterator[None]:
        """Inside, the modules give what they gave, and do nothing else."""
        self._again = True
        try:
            yield
        finally:
            self._again = False

    def _in_place_of(self, module: nn.Module, forward: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(forward)
        def called(*args: Any, **kwargs: Any) -> Any:
            if self._again and module in self.given:
                return self.given[module]
            output = forward(*args, **kwargs)
            if not self._again and isinstance(output, Tensor):
                self.given[module] = output.detach()
            return output

        return called
