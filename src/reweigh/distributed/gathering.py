"""What all processes saw of a batch, as one sight: for what is judged by the batch as a whole."""

from dataclasses import replace

from torch import Tensor

from reweigh.distributed.group import gathered, together
from reweigh.seen import Seen


def gathered_seen(seen: Seen) -> Seen:
    """The samples of all processes behind each other, cut off from any graph."""
    own = seen.detached()
    if not together():
        return own
    return replace(
        own,
        losses=gathered(own.losses),
        labels=_or_none(own.labels),
        states={key: gathered(state) for key, state in own.states.items()},
        ids=_or_none(own.ids),
    )


def _or_none(x: Tensor | None) -> Tensor | None:
    return None if x is None else gathered(x)
