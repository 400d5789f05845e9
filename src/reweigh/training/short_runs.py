"""What a run is too short for, in words that say how long would do."""

import math

from reweigh.training.schedules import INVERSE_SQRT
from reweigh.training.workshop import Workshop

FEW_LESSONS = 12
"""Updates of the teacher below which a run says so. Our choice: on breast cancer 4 left it level with the
trusted rows alone, and 9 ahead (README)."""


def of_length(shop: Workshop) -> list[str]:
    """What a run is too short for."""
    return [*_few_lessons(shop), *_long_warmup(shop)]


def _long_warmup(shop: Workshop) -> list[str]:
    name = shop.config.training.schedule
    warmup = int(name.removeprefix(INVERSE_SQRT)) if name.startswith(INVERSE_SQRT) else 0
    if warmup < shop.steps:
        return []
    return [
        f"the run has {shop.steps} steps and its warm-up {warmup}, so that the rate never gets to "
        f"training.lr: lower the number in training.schedule = {name!r}, or train longer"
    ]


def _few_lessons(shop: Workshop) -> list[str]:
    """A teacher that hardly learns may be worse than none (see README): how to let it learn."""
    lessons = shop.reweigher.lessons
    if lessons.engine is None or lessons.every is None:
        return []
    updates = shop.steps // lessons.every
    if updates >= FEW_LESSONS:
        return []
    longer = _lasting(FEW_LESSONS * lessons.every, shop)
    return [
        f"the teacher learns only {'once' if updates == 1 else f'{updates} times'} in {shop.steps} steps, "
        f"and below {FEW_LESSONS} it may be worse than none: train {longer} or more, or with a "
        "smaller method.every"
    ]


def _lasting(steps: int, shop: Workshop) -> str:
    """How to ask for so many steps, in the unit that the settings have their length in."""
    if getattr(shop.config.training, "updates", None) is not None:
        return f"with training.updates = {steps}"
    return f"for {math.ceil(steps / shop.steps_per_epoch)} epochs"
