"""Does a pass that is done again give the same? Everything that goes back over steps rests on it."""

import random
from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import Tensor

from reweigh.distributed.group import any_of
from reweigh.errors import UnsupportedError
from reweigh.metagrad.steps import Pass, leaves_of
from reweigh.student.moment import rng_states
from reweigh.student.student import Student


def check_repeatable(student: Student, one: Pass) -> None:
    """Do a pass again in its moment, and refuse a student that answers otherwise."""
    before, versions = _drawn(), _versions(student)
    again = student.peek(one.batch, one.seen.known, one.moment).losses
    written = [name for name, version in _versions(student).items() if version != versions[name]]
    if any_of(bool(written)):
        raise UnsupportedError(
            f"the student writes into its parameter {written[0] if written else ''!r} when it answers "
            "(nn.Embedding(max_norm=…), a clamp in forward), so that trusted samples would change it and "
            "its steps could not be gone back over: do that between steps instead"
        )
    if any_of(_drawn() != before):
        raise UnsupportedError(
            "the student draws random numbers from Python or numpy, which could not be drawn again "
            "when the teacher goes back over its steps: draw them with torch (torch.rand, "
            "torch.randperm)"
        )
    allowed = 0.02 if one.moment.is_coarse(student.module.parameters()) else 0.001
    if any_of(_differ(one.seen.losses, again, allowed)):
        raise UnsupportedError(
            "the student answers the same batch differently when it is asked twice: it has a random "
            "generator or a counter of its own, so that its steps could not be gone back over; keep "
            "such state in buffers, and draw with torch's default generator"
        )


def check_goes_through_module(student: Student, one: Pass, names: Mapping[Tensor, str]) -> None:
    """Refuse a loss that reaches θ otherwise than through the module that it is given: where the
    student stands at another θ, that part would stay behind, and its gradient be missing."""
    leaves = leaves_of({name: p.detach() for p, name in names.items()})
    with one.moment.again(student.module), student.at(leaves, one.moment.fresh_buffers()):
        losses = student.losses(one.batch, one.seen.known)
    if not losses.requires_grad:
        return
    found = torch.autograd.grad(losses.sum(), list(names), allow_unused=True)
    past = [name for name, d in zip(names.values(), found, strict=True) if d is not None]
    if any_of(bool(past)):
        raise UnsupportedError(
            f"the loss uses parameter {past[0] if past else ''!r} without going through the module "
            "that it is given: take parameters from that module, and register submodules instead of "
            "keeping them in lists"
        )


def check_teacher_repeats(student: Student, ask: Callable[[], Tensor]) -> Tensor:
    """What the teacher says when it is asked, if it says the same again and drew nothing for it."""
    before, generators = _drawn(), rng_states(student.module)
    with torch.no_grad():
        first, again = ask(), ask()
    after = rng_states(student.module)
    drew = _drawn() != before or any(not torch.equal(generators[d], after[d]) for d in generators)
    if any_of(drew or _differ(first.float(), again.float())):
        what = "draws random numbers" if drew else "gives other weights"
        raise UnsupportedError(
            f"the teacher {what} each time it is asked about the same batch, so its gradient would be "
            "that of other weights than the student learned under: leave out dropout and noise, or make "
            "them a function of seen.ids and seen.progress"
        )
    return first


def _differ(first: Tensor, again: Tensor, allowed: float = 0.02) -> bool:
    """By more than kernels that add in any order do; what is not finite is told of elsewhere."""
    off = (again - first).abs() > allowed * (first.abs() + first.abs().mean())
    return bool((off & torch.isfinite(first)).any())


def _versions(student: Student) -> dict[str, int]:
    """How often each parameter has been written to."""
    return {name: p._version for name, p in student.module.named_parameters()}


def _drawn() -> tuple[object, ...]:
    """Where the generators stand that are not torch's."""
    numpy = np.random.get_state(legacy=False)["state"]
    return random.getstate(), numpy["pos"], numpy["key"].tobytes()
