"""The first layers of a pass, remembered, so that a second pass may begin where they end.

The trunk are the layers that write the first three quarters of all numbers which a pass writes: in
convolutional networks those of the large maps, whose work is the dearest. A second pass, with other
parameters, that takes from the first one what they gave costs no more than what comes after them.

Nothing is asked of the student but that it calls its submodules in the same order twice. Where it does
not, or where somebody wrote into what a layer gave, the second pass does that layer itself, and all
that follow it.
"""

from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from reweigh.batch import tensors

SHARE = 0.75
"""How many of the numbers that layers write are the trunk's at most; layers are modules without
submodules. Our choice."""

Forward = Callable[..., Any]


@dataclass(eq=False, slots=True)
class _Call:
    """One call of a submodule."""

    module: nn.Module
    number: int
    after: int = 0
    """The number of the first call that is not inside this one."""
    written: int = 0
    """How many numbers had been written when it ended."""
    output: Tensor | None = None
    version: int = 0
    changed: int = 0
    """`written` of the call that wrote into the output in place, the last one of these."""

    @property
    def holds_others(self) -> bool:
        return self.after > self.number + 1


class Trunk:
    """The calls of a pass, in the order in which they begin.

    A second pass calls all that is inside the `entered` modules: somebody looks in there.
    """

    def __init__(self, entered: Container[nn.Module] = ()) -> None:
        self._entered = entered
        self._forget()
        self._do = self._remember

    def _forget(self) -> None:
        self._calls: list[_Call] = []
        self._giving: dict[int, list[_Call]] = {}  # by their output's id: calls keep it alive
        self._written, self._limit, self._next = 0, 0.0, -1

    @contextmanager
    def watched(self, module: nn.Module) -> Iterator[None]:
        """Inside, the module's pass is remembered, until `again`."""
        inner = [m for m in module.modules() if m is not module]
        before = [m.__dict__.get("forward") for m in inner]
        try:
            for m in inner:
                m.__dict__["forward"] = self._in_place_of(m, m.forward)
            yield
        finally:
            for m, own in zip(inner, before, strict=True):
                if own is None:
                    del m.__dict__["forward"]
                else:
                    m.__dict__["forward"] = own
            self._forget()

    @contextmanager
    def again(self) -> Iterator[None]:
        """Inside, layers of the trunk give what they gave. Afterwards nothing is remembered."""
        self._limit, self._next, self._do = SHARE * self._written, 0, self._give
        try:
            yield
        finally:
            self._forget()
            self._do = _straight

    def _in_place_of(self, module: nn.Module, forward: Forward) -> Forward:
        def called(*args: Any, **kwargs: Any) -> Any:
            return self._do(module, forward, args, kwargs)

        return called

    def _remember(
        self, module: nn.Module, forward: Forward, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        call, met = _Call(module, len(self._calls)), self._met(args)
        self._calls.append(call)
        output = forward(*args, **kwargs)
        call.after = len(self._calls)
        if not call.holds_others:
            self._written += sum(t.numel() for t in tensors(output))
        call.written = self._written
        for earlier, given in met:
            if earlier.version != given._version:
                earlier.version, earlier.changed = given._version, call.written
        if isinstance(output, Tensor):
            call.output, call.version = output, output._version
            self._giving.setdefault(id(output), []).append(call)
        return output

    def _met(self, args: tuple[Any, ...]) -> list[tuple[_Call, Tensor]]:
        """Calls whose output, as they gave it, a call is about to get."""
        given = [a for a in args if isinstance(a, Tensor)]
        pairs = [(call, a) for a in given for call in self._giving.get(id(a), ())]
        return [(call, a) for call, a in pairs if call.version == a._version]

    def _give(
        self, module: nn.Module, forward: Forward, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        call = self._expected(module)
        given = None if call is None else self._given_by(call)
        if call is None or given is None:
            inside = call is not None and call.holds_others
            self._next = self._next + 1 if inside else len(self._calls)
            return forward(*args, **kwargs)
        self._next = call.after
        return given

    def _expected(self, module: nn.Module) -> _Call | None:
        """The call that is due, if it is the module's; none past the trunk."""
        call = self._calls[self._next] if self._next < len(self._calls) else None
        return call if call is not None and call.module is module else None

    def _given_by(self, call: _Call) -> Tensor | None:
        """What it gave, if it is of the trunk and nobody but calls of the trunk wrote into it."""
        if call.output is None or max(call.written, call.changed) > self._limit:
            return None
        if call.module in self._entered:
            return None
        return call.output.detach() if call.output._version == call.version else None


def _straight(
    module: nn.Module, forward: Forward, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """As if nobody watched."""
    return forward(*args, **kwargs)
