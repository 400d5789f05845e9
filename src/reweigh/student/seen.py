"""What a teacher sees of a batch: losses, labels, the student's internal states, the progress."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from reweigh.errors import UsageError
from reweigh.typing import Losses


def pool_channels(state: Tensor) -> Tensor:
    """One vector per sample of a map (n, c, …): the mean over its positions, (n, c)."""
    return state.flatten(2).mean(2) if state.ndim > 2 else state.clone()


def pool_last(state: Tensor) -> Tensor:
    """One vector per sample of (n, …, d): the mean over all positions, (n, d)."""
    return state.flatten(1, -2).mean(1) if state.ndim > 2 else state.clone()


def pool_positions(state: Tensor) -> Tensor:
    """One vector per sample of a sequence (n, t, d): the mean over t; maps of images as channels.

    A vector is copied: an in-place activation behind the layer would write into it.
    """
    if state.ndim == 3:
        return state.mean(1)  # (n, t, d) -> (n, d)
    return pool_channels(state)


@dataclass(frozen=True)
class Tap:
    """A place of the student to look at: a named layer's input or output, one vector per sample.

    The layer "" is the student itself. `reduce` makes (n, d) of what stands there; by default the
    mean over positions.
    """

    layer: str
    side: str = "input"
    reduce: Callable[[Tensor], Tensor] | None = None

    @property
    def place(self) -> str:
        """For messages."""
        return f"layer {self.layer!r}" if self.layer else "the student itself"

    @property
    def key(self) -> str:
        """The name under which the state stands in `Seen.states`."""
        how = "" if self.reduce is None else f":{getattr(self.reduce, '__name__', id(self.reduce))}"
        return f"{self.layer}:{self.side}{how}"


@dataclass(frozen=True)
class Progress:
    """Where training stands, as the surface features of the paper's M_1 want it."""

    share: float = 0.0
    """Steps done so far, divided by all steps; nan when the total was not given."""
    mean_loss: Tensor = field(default_factory=lambda: torch.zeros(()))
    """Mean training loss over all steps so far, ()."""
    best_accuracy: float = 0.0
    """Best accuracy on the trusted set so far, in [0, 1]."""


class States(dict[str, Tensor]):
    """What stands at a teacher's taps, by their keys; a place without a tap is told of."""

    def __missing__(self, key: str) -> Tensor:
        layer, _, side = key.partition(":")
        places = ", ".join(map(repr, self)) or "none"
        raise UsageError(
            f"the teacher reads the state {key!r}, but of the student's states its taps show {places}: "
            f"name the place among them, as in self.taps = (reweigh.Tap({layer!r}, "
            f"{side.partition(':')[0] or 'input'!r}),), and read seen.states[tap.key]"
        )


@dataclass(frozen=True)
class Known:
    """What is known of a batch before the student answers it."""

    progress: Progress = field(default_factory=Progress)
    ids: Tensor | None = None  # (n,) sample ids, where the caller gave them
    average: dict[str, Tensor] | None = None  # what the average student showed of it


@dataclass(frozen=True)
class Seen:
    """One batch through the student's eyes, as one forward pass showed it."""

    losses: Losses  # (n,)
    labels: Tensor | None  # (n,)
    states: dict[str, Tensor]  # tap key -> (n, d)
    progress: Progress
    ids: Tensor | None = None  # (n,) sample ids, where the caller gave them
    trusted: Tensor | None = None  # (n,) bool, where the batch says which of its samples are
    average: dict[str, Tensor] | None = None  # as `states`, of the average student, if there is one

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", States(self.states))
        if self.average is not None:
            object.__setattr__(self, "average", States(self.average))

    @property
    def known(self) -> Known:
        """What a pass over the same batch has to know to come to the same."""
        return Known(self.progress, self.ids, self.average)

    def detached(self) -> "Seen":
        """The same sight with ∂/∂θ cut: the paper's ∂w/∂θ = 0."""
        states = {key: state.detach() for key, state in self.states.items()}
        return replace(self, losses=self.losses.detach(), states=states)
