"""How the learning rate falls during a run, by name.

The rate of step t is η_t = η · warm(t) · fall(t), with η the optimiser's own rate. The paper's
schedules divide by ten at fixed epochs of a run of fixed length; here the marks are *shares of the
run*, so a shorter run keeps the schedule's shape. Marks count in steps, not whole epochs: of 15
epochs, `paper-uniform` would otherwise lose its second drop, at 14.25.

    paper-clean     η = 0.1, ÷10 after epochs 80 and 120 of 300
    paper-uniform   η = 0.1, ÷10 after epochs 36 and 38 of 40
    paper-flip      η = 0.1, ÷10 after epochs 40 and 50 of 60
    step:0.5,0.75   ÷10 at these shares
    cosine          (1 + cos πt/T) / 2, in every step
    constant        1
    inverse-sqrt:W  min((t + 1) / W, √(W / (t + 1))): W steps of warm-up, whatever the run's length
"""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from reweigh.errors import UsageError
from reweigh.nearest import nearest

if TYPE_CHECKING:
    from torch.optim import Optimizer
    from torch.optim.lr_scheduler import LambdaLR

Fall = Callable[[Fraction], float]
"""Share of the run that is over, 0 … 1 → multiplier of the learning rate."""

PAPER_MARKS = {
    "paper-clean": (Fraction(80, 300), Fraction(120, 300)),
    "paper-uniform": (Fraction(36, 40), Fraction(38, 40)),
    "paper-flip": (Fraction(40, 60), Fraction(50, 60)),
}
NAMES = (*PAPER_MARKS, "constant", "cosine", "step:0.5,0.75", "inverse-sqrt:4000")
INVERSE_SQRT = "inverse-sqrt:"


def schedule(
    name: str,
    optimizer: "Optimizer",
    epochs: int,
    steps_per_epoch: int,
    warmup_epochs: float = 0.0,
    steps: int | None = None,
) -> "LambdaLR":
    """A scheduler for `optimizer`, to be stepped after every step of it."""
    from torch.optim.lr_scheduler import LambdaLR

    return LambdaLR(optimizer, multiplier(name, epochs, steps_per_epoch, warmup_epochs, steps))


def multiplier(
    name: str,
    epochs: int,
    steps_per_epoch: int,
    warmup_epochs: float = 0.0,
    steps: int | None = None,
) -> Callable[[int], float]:
    """The multiplier of the learning rate as a function of the step, counted from 0.

    Warm-up is linear, (t + 1) / steps of warm-up, and multiplies what the schedule gives. `steps`
    is the length of a run that does not end with an epoch.

    >>> at = multiplier("step:0.5", epochs=2, steps_per_epoch=10)
    >>> at(9), at(10)
    (1.0, 0.1)
    """
    if epochs < 1 or steps_per_epoch < 1:
        raise UsageError(
            f"A schedule needs at least one epoch of one step, got {epochs} × {steps_per_epoch}."
        )
    if not 0 <= warmup_epochs <= epochs:  # false for NaN too
        raise UsageError(f"Warm-up must last 0 to {epochs} epochs, got {warmup_epochs}.")
    if name.startswith(INVERSE_SQRT):
        return _inverse_sqrt(name)
    fall = parse(name)
    total = steps or epochs * steps_per_epoch
    warmup = round(warmup_epochs * steps_per_epoch)

    def at(step: int) -> float:
        warm = min(1.0, (step + 1) / warmup) if warmup else 1.0
        return warm * fall(min(Fraction(step, total), Fraction(1)))

    return at


def _inverse_sqrt(name: str) -> Callable[[int], float]:
    """Warm-up and fall of the Transformer's own schedule, in steps."""
    text = name.removeprefix(INVERSE_SQRT)
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"The schedule {name!r} needs steps of warm-up, as in inverse-sqrt:4000")
    warmup = int(text)
    return lambda step: min((step + 1) / warmup, math.sqrt(warmup / (step + 1)))


def parse(name: str) -> Fall:
    """The schedule of that name, as a function of the share of the run that is over."""
    if name == "constant":
        return lambda share: 1.0
    if name == "cosine":
        return lambda share: (1 + math.cos(math.pi * share)) / 2
    if name.startswith("step:"):
        return _tenth_after(_marks(name))
    if name in PAPER_MARKS:
        return _tenth_after(PAPER_MARKS[name])
    raise UsageError(f"There is no schedule {name!r}{nearest(name, NAMES)}")


def _tenth_after(marks: tuple[Fraction, ...]) -> Fall:
    """÷10 from each mark on."""
    return lambda share: 1 / 10 ** sum(share >= mark for mark in marks)


def _marks(name: str) -> tuple[Fraction, ...]:
    """The marks of `step:a,b,…`: rising shares between 0 and 1, exact where a decimal was meant."""
    try:
        values = [float(text) for text in name.removeprefix("step:").split(",")]
    except ValueError:
        values = []
    rising = all(a < b for a, b in pairwise(values))
    if not values or not rising or not all(0 < value < 1 for value in values):
        raise UsageError(
            f"The marks of the schedule {name!r} must be rising shares of the run "
            "between 0 and 1, such as step:0.5,0.75"
        )
    return tuple(Fraction(value).limit_denominator(10**6) for value in values)
