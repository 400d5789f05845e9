"""Which layers of a student are its trunk, and whether a second pass can begin where they end.

They are those that write the first three quarters of all numbers which layers with parameters write on
the way to the answer; a block is among them as a whole, or not at all. A student need not allow it: it
may write into what a layer gave, leave something behind on its modules that the loop reads, draw random
numbers, or keep a stack of its own. So it is tried, once: a pass that begins where the trunk of another
one ends must answer as a whole pass does, and touch nothing. Students that do not pass have no trunk.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from reweigh.batch import tensors
from reweigh.distributed.group import together
from reweigh.distributed.sync_batch_norm import SynchronisedBatchNorm
from reweigh.moment import rng_states
from reweigh.seen import Known, States
from reweigh.student import Student
from reweigh.trunk import Trunk
from reweigh.typing import Batch

SHARE = 0.75
"""How many of those numbers are the trunk's at most. Our choice."""
ROWS = nn.Sequential, nn.ModuleList, nn.ModuleDict
"""Modules that are no blocks: what they hold is called one after the other, or by somebody else."""
STUMBLES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a student may raise whose first layers were not called, though a whole pass went well."""


def trunk_of(
    student: Student, batch: Batch, ask: Callable[[], States], stops: Container[nn.Module]
) -> list[nn.Module]:
    """The modules of the trunk in a pass over a batch, none where `ask`, the second pass, needs all.

    Layers called after one of the `stops` do not belong to it.
    """
    module, learn = student.module, partial(student.losses, batch, Known())
    if _watched_by_others(module):
        return []
    left, drawn = _left_on(module), rng_states(module)
    with torch.no_grad():
        whole = ask()
    if _left_on(module) != left or _moved(drawn, rng_states(module)):
        return []
    taken = found(module, learn, student.around_taps, stops)
    return taken if _works(taken, learn, ask, whole) else []


def _watched_by_others(module: nn.Module) -> bool:
    """Whether somebody would see the second pass, or processes would have to agree on a trunk."""
    return any(
        m._forward_hooks or m._forward_pre_hooks
        or (isinstance(m, SynchronisedBatchNorm) and together())
        for m in module.modules()
    )  # fmt: skip


def _left_on(module: nn.Module) -> dict[tuple[int, str], int]:
    """Tensors that stand on modules beside parameters and buffers, by their identity."""
    return {
        (id(m), name): id(value)
        for m in module.modules()
        for name, value in m.__dict__.items()
        if isinstance(value, Tensor)
    }


def _moved(before: dict[str, Tensor], now: dict[str, Tensor]) -> bool:
    return not all(torch.equal(state, now[device]) for device, state in before.items())


def _works(
    modules: list[nn.Module], learn: Callable[[], object], ask: Callable[[], States], whole: States
) -> bool:
    """Whether a pass from the trunk on shows what the whole one did, and writes nowhere."""
    trunk = Trunk(modules)
    try:
        with torch.enable_grad(), trunk.watched():
            learn()
            given = list(trunk.given.values())
            before = [t._version for t in given]
            with torch.no_grad(), trunk.again():
                shown = ask()
    except STUMBLES:
        return False
    return before == [t._version for t in given] and all(
        _close(shown[key], state) for key, state in whole.items()
    )


def _close(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and bool((a - b).abs().max() <= 1e-3 * (1 + b.abs().max()))


class _Call(NamedTuple):
    """One call of a submodule, when it ended."""

    module: nn.Module
    output: Any
    version: int
    written: int
    """How many numbers had been written by then."""


class _Calls:
    """All calls of a pass, in the order in which they ended."""

    def __init__(self) -> None:
        self.ended: list[_Call] = []
        self.answer: Any = None
        self._written = 0

    @contextmanager
    def noted(self, module: nn.Module) -> Iterator[None]:
        handles = [m.register_forward_hook(self._note) for m in module.modules() if m is not module]
        handles.append(module.register_forward_hook(self._note_answer))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _note(self, module: nn.Module, args: object, output: object) -> None:
        version = output._version if isinstance(output, Tensor) else 0
        if _is_layer(module):
            self._written += sum(t.numel() for t in tensors(output))
        self.ended.append(_Call(module, output, version, self._written))

    def _note_answer(self, module: nn.Module, args: object, output: object) -> None:
        self.answer = output

    def early(self, stops: Container[nn.Module]) -> list[_Call]:
        """Those of the trunk that gave a tensor and were called but once."""
        times, limit = Counter(call.module for call in self.ended), SHARE * self._total()
        until = takewhile(lambda c: c.written <= limit and c.module not in stops, self.ended)
        return [c for c in until if isinstance(c.output, Tensor) and times[c.module] == 1]

    def _total(self) -> int:
        """Numbers that lead to the answer: what is computed after it does not count."""
        gave = (call.written for call in self.ended if call.output is self.answer)
        return next(gave, self._written)


def _is_layer(module: nn.Module) -> bool:
    """Has parameters, and no submodules."""
    no_children = next(module.children(), None) is None
    return no_children and next(module.parameters(), None) is not None


def found(
    module: nn.Module,
    run: Callable[[], object],
    entered: Container[nn.Module] = (),
    stops: Container[nn.Module] = (),
) -> list[nn.Module]:
    """The modules of the trunk in the pass that `run` does, the outermost ones.

    Those that are called twice are not among them, nor the `entered` ones, inside which somebody looks.
    """
    calls = _Calls()
    with calls.noted(module):
        run()
    taken = [call for call in calls.early(stops) if call.module not in entered]
    inside = _inside(call.module for call in taken)
    early = {call.module for call in taken} | inside
    cut = (m for m in module.modules() if m not in early and m is not module)
    apart = inside | _inside(m for m in cut if not isinstance(m, ROWS))
    taken = [call for call in taken if call.module not in apart]
    while taken and taken[-1].output._version != taken[-1].version:  # written into behind the trunk
        taken.pop()
    return [call.module for call in taken]


def _inside(modules: Iterable[nn.Module]) -> set[nn.Module]:
    """All submodules of these."""
    return {inner for m in modules for inner in m.modules() if inner is not m}
