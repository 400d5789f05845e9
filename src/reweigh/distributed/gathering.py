"""What all processes saw of a batch, as one sight: for what is judged by the batch as a whole."""

from dataclasses import replace

from torch import Tensor

from reweigh.distributed.group import gathered, own_part, together, world
from reweigh.errors import UsageError
from reweigh.student.batch import batch_length, mapped
from reweigh.student.seen import Seen
from reweigh.typing import Batch


def gathered_seen(seen: Seen) -> Seen:
    """The samples of all processes behind each other, cut off from any graph."""
    own = seen.detached()
    if not together():
        return own
    return replace(
        own,
        losses=gathered(own.losses),
        labels=_or_none(own.labels),
        states=_all(own.states),
        average=None if own.average is None else _all(own.average),
        ids=_or_none(own.ids),
        trusted=_or_none(own.trusted),
    )


def own_part_of(batch: Batch) -> Batch:
    """This process's share of a whole batch that all processes hold."""
    n = batch_length(batch)
    if n < world():
        raise UsageError(
            f"a batch of {n} samples cannot be shared by {world()} processes: give a larger batch, or "
            "start fewer processes"
        )
    return mapped(batch, own_part) if together() else batch


def _all(states: dict[str, Tensor]) -> dict[str, Tensor]:
    return {key: gathered(state) for key, state in states.items()}


def _or_none(x: Tensor | None) -> Tensor | None:
    return None if x is None else gathered(x)
