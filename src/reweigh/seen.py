"""What a teacher sees of a batch: losses, labels, the student's internal states, the progress."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from reweigh.typing import Losses


def pool(state: Tensor) -> Tensor:
    """One vector per sample: the mean over positions of a map or of a sequence."""
    if state.ndim <= 2:
        return state.reshape(state.shape[0], -1)  # (n, d)
    if state.ndim == 3:
        return state.mean(1)  # (n, t, d) -> (n, d)
    return state.flatten(2).mean(2)  # (n, c, h, w) -> (n, c)


@dataclass(frozen=True)
class Tap:
    """A place of the student to look at: a named layer's input or output, one vector per sample."""

    layer: str
    side: str = "input"
    reduce: Callable[[Tensor], Tensor] = field(default=pool, compare=False)

    @property
    def key(self) -> str:
        """The name under which the state stands in `Seen.states`."""
        return f"{self.layer}:{self.side}"


@dataclass(frozen=True)
class Progress:
    """Where training stands, as the surface features of the paper's M_1 want it."""

    share: float = 0.0
    """Steps done so far, divided by all steps; nan when the total was not given."""
    mean_loss: Tensor = field(default_factory=lambda: torch.zeros(()))
    """Mean training loss over all steps so far, ()."""
    best_accuracy: float = 0.0
    """Best accuracy on the trusted set so far, in [0, 1]."""


@dataclass(frozen=True)
class Seen:
    """One batch through the student's eyes, as one forward pass showed it."""

    losses: Losses  # (n,)
    labels: Tensor | None  # (n,)
    states: dict[str, Tensor]  # tap key -> (n, d)
    progress: Progress
    ids: Tensor | None = None  # (n,) sample ids, where the caller gave them

    def detached(self) -> "Seen":
        """The same sight with ∂/∂θ cut: the paper's ∂w/∂θ = 0."""
        states = {key: state.detach() for key, state in self.states.items()}
        return replace(self, losses=self.losses.detach(), states=states)
