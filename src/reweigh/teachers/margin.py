r"""The margin teacher: the agreement teacher with nothing in it that belongs to one student.

$$ w = \sigma(c\, m + b) $$

with the margin m to trusted class means. Two numbers are learned, and both mean the same for another
student, another width and another number of classes: this teacher can be moved, where the paper's,
whose W_I are coordinates of one student's states, cannot. Beyond the paper.
"""

import torch
from torch import Tensor, nn

from reweigh.student.seen import Seen
from reweigh.teachers.base import Teacher
from reweigh.teachers.class_means import ClassMeans
from reweigh.teachers.features import InternalState, labels_of
from reweigh.typing import Weights


class MarginTeacher(Teacher):
    """σ(c·m + b); `scale` is c's start, `decay` how long the means remember (our choices)."""

    def __init__(
        self,
        student: nn.Module,
        *,
        layer: str,
        num_classes: int,
        scale: float = 4.0,
        decay: float = 0.9,
    ) -> None:
        super().__init__()
        self.state = InternalState(student, layer)
        self.taps = self.state.taps
        self.class_means = ClassMeans(num_classes, self.state.size, decay=decay)
        self.scale = nn.Parameter(torch.tensor(float(scale)))
        self.bias = nn.Parameter(torch.zeros(()))

    def notice_trusted(self, seen: Seen) -> None:
        """Move the class means towards those of a trusted batch."""
        self.class_means.follow(self.state(seen), self._labels(seen))

    def margin(self, seen: Seen) -> Tensor:
        """m, (n,)."""
        return self.class_means.margin(self.state(seen), self._labels(seen))

    def forward(self, seen: Seen) -> Weights:
        """σ(c·m + b), (n,)."""
        return (self.scale * self.margin(seen) + self.bias).sigmoid()

    def _labels(self, seen: Seen) -> Tensor:
        return labels_of(seen, len(self.class_means.means))
