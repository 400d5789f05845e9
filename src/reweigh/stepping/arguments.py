"""What a Reweigher cannot be built of, or called with: said before anything is trained."""

import torch
from torch import nn
from torch.optim import Optimizer

from reweigh.errors import UnsupportedError, UsageError
from reweigh.teachers.base import Teacher


def check_parts(student: object, optimizer: object, teacher: object) -> None:
    """Refuse parts that are something else, or in another order."""
    if not isinstance(student, nn.Module):
        raise UsageError(f"the student must be an nn.Module, not a {type(student).__name__}")
    if not isinstance(optimizer, Optimizer):
        raise UsageError(
            f"the optimizer must be a torch.optim optimizer, not a {type(optimizer).__name__}; of a "
            "framework's wrapper give what it wraps (usually .optimizer)"
        )
    if teacher is not None and not isinstance(teacher, Teacher):
        raise UsageError(
            f"the teacher must be a reweigh.Teacher that was built, such as "
            f"reweigh.PosteriorTeacher(num_classes=…), not {teacher!r}"
        )
    if not any(True for _ in student.parameters()):
        raise UsageError("the student has no parameters: there is nothing to train")
    held = {p for group in optimizer.param_groups for p in group["params"]}
    if held.isdisjoint(student.parameters()):
        raise UsageError(
            "the optimizer holds no parameter of the student, which would never move: build it with "
            "student.parameters()"
        )


def check_gradients_on() -> None:
    """Refuse to train where torch keeps no graph."""
    if not torch.is_grad_enabled():
        raise UsageError(
            "step() and loss() train, but gradients are switched off here; evaluate with a loss of "
            "your own, or look with peek()"
        )


def check_lookahead(every: int | None, through: int, accumulate: int) -> None:
    """Refuse to look ahead without a rhythm, further than one step, or on a part of a step."""
    if every is None:
        raise UsageError("lookahead=True teaches before every K-th step: give every=1, say")
    if through != 1:
        raise UsageError(
            f"lookahead=True looks ahead through one virtual step, not through={through}: leave it out"
        )
    if accumulate > 1:
        raise UnsupportedError(
            f"lookahead=True looks ahead on one batch, and accumulate={accumulate} makes a step of "
            "several: give accumulate=1"
        )


def check_counts(every: int | None, through: int, accumulate: int, total_steps: int | None) -> None:
    """Refuse K, B and the others where they are no counts, or B is more than K."""
    for name, value, may_be_none in (
        ("every", every, True),
        ("through", through, False),
        ("accumulate", accumulate, False),
        ("total_steps", total_steps, True),
    ):
        whole = isinstance(value, int) and not isinstance(value, bool)
        if value is None and may_be_none:
            continue
        if value is None or not whole or value < 1:
            raise UsageError(f"{name} must be a whole number of at least 1, not {value!r}")
    if every is not None and through > every:
        raise UsageError(
            f"through={through} is more than every={every}: the teacher changes every {every} "
            f"steps, and only steps under the present teacher can be gone back over; give "
            f"through={every} or less"
        )
