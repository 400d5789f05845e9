r"""The student's running average, to look through: $\bar\theta \leftarrow d\bar\theta + (1 - d)\theta$.

A student that takes long steps is right about a sample in one step and wrong in the next. Its average
over the last $1/(1-d)$ steps is calmer and nearer to where training goes, so that what a teacher
concludes from its answers is better (Tarvainen and Valpola 2017 take such an average's answers as
targets). It must not be long: from what it has not learned yet it holds the student back.

It answers without dropout, but normalises by the batch where the student does: running statistics are
those of other parameters than its own. It costs a forward pass without gradient and one copy of what
is trained. Beyond the paper.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from reweigh.batch import moved_to
from reweigh.evaluating import evaluating
from reweigh.seen import Progress
from reweigh.student import Student
from reweigh.typing import Batch, Params

START = 10
"""The first averages are short: after t steps d is at most (1 + t) / (START + t). Our choice."""


class Average:
    """θ̄ and its buffers, begun from the student as it is when first asked."""

    def __init__(self, student: Student, decay: float) -> None:
        self.student, self.decay = student, decay
        self.held: Params = {}

    @torch.no_grad()
    def look(self, batch: Batch) -> dict[str, Tensor]:
        """What stands at the student's taps when θ̄ answers, by their keys, (n, d) each."""
        self._take_up()
        with _calm(self.student.module), self.student.at(self.held):
            return dict(self.student.look(batch, Progress()).states)

    @torch.no_grad()
    def follow(self, steps: int) -> None:
        """The student has taken its step number `steps`."""
        if not self.held:
            return
        rate = 1 - min(self.decay, (1 + steps) / (START + steps))
        self._take_up()
        now = self._now()
        moving = [name for name in now if now[name].is_floating_point()]
        torch._foreach_lerp_(  # pyright: ignore[reportPrivateImportUsage] (as torch.optim does it)
            [self.held[name] for name in moving], [now[name] for name in moving], rate
        )
        self.held |= {name: now[name].clone() for name in now.keys() - moving}

    def state_dict(self) -> dict[str, Any]:
        """All that it holds; empty before the first look."""
        return dict(self.held)

    def load_state_dict(self, state: dict[str, Any], device: torch.device) -> None:
        """Go on from another one's."""
        self.held = moved_to(state, device)

    def _take_up(self) -> None:
        """Begin with what is new: all of it at first, later layers that were added or unfrozen."""
        now = self._now()
        if now.keys() != self.held.keys():
            self.held = {name: self.held.get(name, t.clone()) for name, t in now.items()}

    def _now(self) -> Params:
        """What training changes: θ and the buffers. What is frozen needs no average."""
        module = self.student.module
        theta = {name: p.detach() for name, p in module.named_parameters() if p.requires_grad}
        return theta | dict(module.named_buffers())


@contextmanager
def _calm(module: nn.Module) -> Iterator[None]:
    """Evaluation mode for all but batch normalisation."""
    norms = [m for m in module.modules() if isinstance(m, _BatchNorm) and m.training]
    with evaluating(module):
        for norm in norms:
            norm.training = True
        yield
