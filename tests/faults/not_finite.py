"""NaN and infinities from everywhere: exit code 5, and none of them in a checkpoint."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import torch
from tests.faults.fault import Fault, in_child
from tests.faults.whole import go_on, whole
from tests.training.interrupted import tiny

from reweigh.errors import DivergedError
from reweigh.metagrad.engine import Engine
from reweigh.training.checkpoint import Checkpoints
from reweigh.training.keeper import refuse_non_finite
from reweigh.training.loop import Loop
from reweigh.training.pool import Pool
from reweigh.training.run_records import read_status
from reweigh.training.tasks.classification import Classification
from reweigh.training.workshop import Workshop

SEED = 3
_PLACES = ("input", "student", "loss", "optimizer", "teacher", "meta-gradient")

Case = tuple[str, int, float]


def _cases() -> list[Case]:
    random, values = Random(SEED), (float("nan"), float("inf"))
    places = [place for place in _PLACES for _ in range(5)]
    return [(place, random.randint(1, 18), random.choice(values)) for place in places]


def _attempt(case: Case, folder: Path) -> None:
    config = tiny("deep")
    whole(config)

    def work() -> None:
        _spoil(*case)
        go_on(config, folder / "run")

    assert in_child(work) == DivergedError.exit_code
    assert read_status(folder / "run") == "failed"
    home = Checkpoints(folder / "run" / "checkpoints")
    for step in home.steps():
        found = home._read(step, torch.device("cpu"))
        refuse_non_finite("student", found.student)
        refuse_non_finite("optimizer", found.state["optimizer"])
        refuse_non_finite("teacher", found.state["reweigher"]["teacher"])


def _spoil(place: str, step: int, value: float) -> None:
    """From the given step on, one number is not one."""
    take, begun = Loop.step, [False]

    def spoiled(loop: Loop, number: int) -> Any:
        if number == step:
            begun[0] = True
            _plant(place, loop.shop, value)
        return take(loop, number)

    Loop.step = spoiled
    if place in _PASSING:
        _replace(*_PASSING[place], begun, value)


def _plant(place: str, shop: Workshop, value: float) -> None:
    """In what stays from step to step."""
    if place == "student":
        next(shop.student.parameters()).data.view(-1)[0] = value
    elif place == "optimizer":
        for state in shop.optimizer.state.values():
            state["momentum_buffer"].view(-1)[0] = value
    elif place == "teacher":
        assert shop.reweigher.teacher is not None
        next(shop.reweigher.teacher.parameters()).data.fill_(value)


def _replace(owner: Any, name: str, spoil: Callable, begun: list[bool], value: float) -> None:
    """In what passes by."""
    original = getattr(owner, name)

    def replaced(*arguments: Any, **options: Any) -> Any:
        result = original(*arguments, **options)
        return spoil(result, value) if begun[0] else result

    setattr(owner, name, replaced)


_PASSING: dict[str, tuple[Any, str, Callable]] = {
    "input": (Pool, "batch", lambda xy, value: (xy[0] * value, xy[1])),
    "loss": (Classification, "per_sample_loss", lambda losses, value: losses * value),
    "meta-gradient": (Engine, "meta_gradient", lambda ds, value: [d * value for d in ds]),
}

NOT_FINITE = Fault("NaN and infinities", SEED, _cases(), _attempt)
