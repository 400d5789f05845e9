"""Where a module holds its parameters and buffers, and under which names.

A step asks several times. Torch's own walks are nested generators that make every name anew each time,
which on a deep network takes milliseconds a step, and a GPU waits for it. Here a walk is a plain loop, and
names are kept for as long as the module holds the same tensors in the same places.
"""

from collections.abc import Iterator
from typing import NamedTuple

from torch import Tensor, nn

Home = dict[str, Tensor | None]


class Place(NamedTuple):
    """A member of some submodule."""

    home: Home
    key: str
    name: str
    """Under which the module knows it: of tied tensors, that of the first."""
    is_parameter: bool


class Anatomy:
    """The places of a module, as it is now."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self._held: list[tuple[Home, str, Tensor]] = []
        self._places: list[Place] = []

    def places(self) -> list[Place]:
        """Every place that holds something."""
        held = list(held_by(self.module))
        if len(held) != len(self._held) or not all(map(_same, held, self._held)):
            self._held, self._places = held, self._named(held)
        return self._places

    def _named(self, held: list[tuple[Home, str, Tensor]]) -> list[Place]:
        parameters = {id(p): name for name, p in self.module.named_parameters()}
        names = parameters | {id(b): name for name, b in self.module.named_buffers()}
        return [Place(home, key, names[id(t)], id(t) in parameters) for home, key, t in held]


def modules_of(module: nn.Module) -> list[nn.Module]:
    """The module and all inside it, each once, in the order of `module.modules()`."""
    found: dict[nn.Module, None] = {}
    waiting: list[nn.Module | None] = [module]
    while waiting:
        inner = waiting.pop()
        if inner is not None and inner not in found:
            found[inner] = None
            if inner._modules:
                waiting += reversed(inner._modules.values())
    return list(found)


def held_by(module: nn.Module) -> Iterator[tuple[Home, str, Tensor]]:
    """Parameters and buffers where they are, tied ones in each of their places."""
    for inner in modules_of(module):
        for home in (inner._parameters, inner._buffers):
            for key, held in home.items():
                if held is not None:
                    yield home, key, held  # pyright: ignore[reportReturnType] (Parameter is a Tensor)


def _same(one: tuple[Home, str, Tensor], other: tuple[Home, str, Tensor]) -> bool:
    return one[2] is other[2] and one[0] is other[0] and one[1] == other[1]
