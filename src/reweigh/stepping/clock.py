"""Where training stands: steps, updates, and the running figures that M_1 is made of."""

from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor

from reweigh.errors import CheckpointError
from reweigh.student.seen import Progress


@dataclass
class Clock:
    """Counts the student's steps and the teacher's updates."""

    total_steps: int | None = None
    steps: int = 0
    updates: int = 0
    since_update: int = 0
    passes: int = 0
    best_accuracy: float = 0.0
    loss_sum: Tensor = field(default_factory=lambda: torch.zeros(()))
    """Of the mean losses of all passes, in float32 at least: a sum in bfloat16 would stop growing."""

    def passed(self, mean_loss: Tensor) -> None:
        """A pass over a batch was weighed."""
        self.passes += 1
        self.loss_sum = self.loss_sum.to(mean_loss) + mean_loss

    def moved(self) -> None:
        """The student took a step."""
        self.steps += 1
        self.since_update += 1

    def taught(self) -> None:
        """The teacher learned."""
        self.updates += 1
        self.since_update = 0

    def progress(self) -> Progress:
        """What a teacher is told of it."""
        share = self.steps / self.total_steps if self.total_steps else float("nan")
        return Progress(share, self.loss_sum / max(1, self.passes), self.best_accuracy)

    def state_dict(self) -> dict[str, Any]:
        """All counts but the length of training, which the settings give."""
        state = asdict(self)
        del state["total_steps"]
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Stand where another clock stood."""
        self.refuse_other(state)
        vars(self).update(state)

    def refuse_other(self, state: dict[str, Any]) -> None:
        """Refuse what a clock of another version saved."""
        expected = set(self.state_dict())
        if set(state) != expected:
            missing = ", ".join(sorted(expected ^ set(state)))
            raise CheckpointError(f"the saved state does not fit this version: {missing}")
