"""The systems that are measured, each with one duty: B student steps and one teacher update.

Everything a teacher update needs is inside `cycle`: what recording adds to the steps, the trusted
gradient, the way back, the teacher's optimizer. What is left after taking B plain steps off is its
extra cost. All of them weigh with the same teacher, whose sight of the student is cut (∂w/∂θ = 0).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from reweigh.bench.subjects import Labelled, Subject, per_sample_loss
from reweigh.reweigher import Reweigher


def plain_step(student: Any, optimizer: torch.optim.Optimizer, batch: Labelled) -> None:
    """The unit of account: what anybody's training loop does for a batch."""
    x, y = batch
    optimizer.zero_grad(set_to_none=True)
    F.cross_entropy(student(x)[0], y).backward()
    optimizer.step()


class System(ABC):
    """A student, its optimizer and a teacher in the hands of one way to get ∂(trusted loss)/∂ω."""

    needs: ClassVar[str | None] = None
    """The package that it is made with, if not ours."""
    keeps_graphs: ClassVar[bool] = False
    """Whether its memory holds the graphs of all B steps at once."""

    def __init__(self, subject: Subject, through: int) -> None:
        self.subject, self.through = subject, through
        self.student = subject.student()
        self.optimizer = subject.optimizer(self.student)
        self.teacher = subject.teacher(self.student)
        self.omega = list(self.teacher.parameters())
        self.teacher_optimizer = torch.optim.Adam(self.omega, lr=0.001)

    @abstractmethod
    def cycle(self, batches: Sequence[Labelled], trusted: Labelled) -> list[Tensor]:
        """A step on each batch, then the teacher's update; dω, one tensor per parameter."""

    def plain_steps(self, batches: Sequence[Labelled]) -> None:
        """Plain training of the same student; leaves neither gradients nor velocity behind."""
        for batch in batches:
            plain_step(self.student, self.optimizer, batch)
        self.optimizer.zero_grad(set_to_none=True)
        self.optimizer.state.clear()


class Ours(System):
    """`Reweigher` as a user calls it."""

    trajectory: ClassVar[str]

    def __init__(self, subject: Subject, through: int) -> None:
        super().__init__(subject, through)
        self._found: list[Tensor] = []
        self.teacher_optimizer.register_step_pre_hook(self._note)
        self.reweigher = Reweigher(
            self.student, self.optimizer, self.teacher, trusted=subject.trusted(),
            per_sample_loss=per_sample_loss, every=None, through=through,
            teacher_optimizer=self.teacher_optimizer, trajectory=self.trajectory,
        )  # fmt: skip

    def _note(self, *_: object) -> None:
        self._found = [p.grad for p in self.omega if p.grad is not None]

    def cycle(self, batches: Sequence[Labelled], trusted: Labelled) -> list[Tensor]:
        """B recorded steps, then `teach`."""
        for x, y in batches:
            self.reweigher.step(x, y)
        self.reweigher.teach(trusted)
        return self._found


class Fast(Ours):
    """Kept graphs."""

    trajectory = "kept"
    keeps_graphs = True


class Lean(Ours):
    """Snapshots of θ."""

    trajectory = "snapshots"


class Reversal(Ours):
    """The paper's reversal of the steps."""

    trajectory = "reversal"
