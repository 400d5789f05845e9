r"""float16 ends at 6e-8 and at 65504: what is linear is taken at a multiple that it can hold.

A gradient is linear in the loss, a derivative along u linear in u:
$\partial M/\partial\theta = \frac1S\,\partial(S M)/\partial\theta$ and
$\partial\ell/\partial\theta \cdot u = \frac1T\,\partial\ell/\partial\theta \cdot (T u)$. S and T are
powers of two, so that nothing is rounded by them, and the numbers in between neither vanish nor
overflow. Both are found anew each time: a run that is resumed goes the same way.
"""

import math
from collections.abc import Callable, Iterable
from typing import TypeVar

import torch
from torch import Tensor, nn

from reweigh.distributed.group import any_of, total
from reweigh.metagrad.steps import Pass
from reweigh.student.batch import answered
from reweigh.student.student import Student
from reweigh.typing import Params

Found = TypeVar("Found")

LOSS = 2.0**12
"""What the scaled loss comes to, at least. Sums over a batch of its slopes times states of size 10
still fit, and a slope spread over 2¹⁷ numbers is far from the smallest. Our choice."""
SMALLEST, LARGEST = 2.0**-24, 2.0**64
"""Of losses and of T: nothing is divided by 0."""
FALL, TRIES = 2.0**-5, 10
"""From one try to the next, where something overflowed."""


def loss_scale(value: Tensor) -> float:
    r"""S for a backward from the loss `value`, (): $S\,\min(1, |M|) \approx 2^{12}$, in all processes."""
    size = abs(float(total(value.detach().float())))
    if not math.isfinite(size):  # told of elsewhere
        return 1.0
    return LOSS / _power_of_two(min(1.0, max(size, SMALLEST)))


def direction_scale(u: Params, theta: Params) -> float:
    r"""T with $\lVert T u\rVert \approx \lVert\theta\rVert$.

    Then states move by about as much as they are, and they fit into float16.
    """
    long, wanted = (float(torch.nn.utils.get_total_norm(p.values())) for p in (u, theta))
    if not 0 < long < math.inf or not 0 < wanted < math.inf:
        return 1.0
    return min(_power_of_two(wanted / long), LARGEST)


def _power_of_two(x: float) -> float:
    """The largest that is not above x."""
    return math.ldexp(1.0, math.frexp(x)[1] - 1)


def times(scale: float, t: Tensor) -> Tensor:
    """t itself for 1: where nothing is scaled, nothing is done."""
    return t if scale == 1.0 else scale * t


def at_largest(
    first: float, find: Callable[[float], Found], parts: Callable[[Found], Iterable[Tensor]]
) -> Found:
    """What is found at the largest scale, from `first` down, at which no process overflows."""
    found = find(first)
    for tried in range(1, TRIES):
        if not any_of(not _finite(parts(found))):
            break
        found = find(first * FALL**tried)
    return found


def _finite(tensors: Iterable[Tensor]) -> bool:
    """Whether all numbers are; a GPU is waited for once."""
    sound = [torch.isfinite(t).all() for t in tensors]
    return not sound or bool(torch.stack(sound).all())


def answers_in_float16(student: Student, one: Pass) -> bool:
    """Whether some layer does, in any process: an autocast may stand inside the student, unseen."""
    met: set[torch.dtype] = set()

    def look(layer: nn.Module, args: object, output: object) -> None:
        if isinstance(answer := answered(output), Tensor):
            met.add(answer.dtype)

    handles = [layer.register_forward_hook(look) for layer in student.module.modules()]
    try:
        student.peek(one.batch, one.seen.known, one.moment)
    finally:
        for handle in handles:
            handle.remove()
    return any_of(torch.float16 in met)
