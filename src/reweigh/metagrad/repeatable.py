"""Does a pass that is done again give the same? Everything that goes back over steps rests on it."""

import random

import numpy as np
import torch

from reweigh.distributed.group import any_of
from reweigh.errors import UnsupportedError
from reweigh.metagrad.steps import Pass
from reweigh.student import Student


def check_repeatable(student: Student, one: Pass) -> None:
    """Do a pass again in its moment, and refuse a student that answers otherwise."""
    before = _drawn()
    again = student.peek(one.batch, one.seen.progress, one.seen.ids, one.moment).losses
    if any_of(_drawn() != before):
        raise UnsupportedError(
            "the student draws random numbers from Python or numpy, which could not be drawn again "
            "when the teacher goes back over its steps: draw them with torch (torch.rand, "
            "torch.randperm)"
        )
    first = one.seen.losses
    off = (again - first).abs() > 0.02 * (first.abs() + first.abs().mean())
    if any_of(bool((off & torch.isfinite(first)).any())):  # what is not finite is told of elsewhere
        raise UnsupportedError(
            "the student answers the same batch differently when it is asked twice: it has a random "
            "generator or a counter of its own, so that its steps could not be gone back over; keep "
            "such state in buffers, and draw with torch's default generator"
        )


def _drawn() -> tuple[object, ...]:
    """Where the generators stand that are not torch's."""
    numpy = np.random.get_state(legacy=False)["state"]
    return random.getstate(), numpy["pos"], numpy["key"].tobytes()
