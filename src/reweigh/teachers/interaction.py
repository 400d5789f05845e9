r"""The interaction teacher: $w = \sigma(I \cdot A_y + b_y)$, features and label *together*.

The paper's σ(W_I I + E y + b) is additive, so it cannot see that a feature vector and its label
disagree. Here each class has a direction A_y of its own in the space of internal states, which can.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from reweigh.student.batch import check_num_classes
from reweigh.student.seen import Seen
from reweigh.teachers.base import Teacher
from reweigh.teachers.features import (
    Feature,
    InternalState,
    all_taps,
    labels_of,
    side_by_side,
    total_size,
)
from reweigh.typing import Weights


class InteractionTeacher(Teacher):
    """One direction per class; with `rank`, A = U V of that rank (for many classes).

    `extra` features (surface features, say) join I, so that their effect depends on the class, too.
    Starts at zero: training starts as plain training.
    """

    def __init__(
        self,
        student: nn.Module,
        *,
        layer: str,
        num_classes: int,
        rank: int | None = None,
        extra: Sequence[Feature] = (),
    ) -> None:
        super().__init__()
        check_num_classes(num_classes)
        self.features = (InternalState(student, layer), *extra)
        self.taps = all_taps(self.features)
        size = total_size(self.features)
        self.bias = nn.Parameter(torch.zeros(num_classes))
        self.directions = nn.Parameter(torch.zeros(num_classes, rank or size))  # A or U
        if rank is not None:
            self.basis = nn.Parameter(torch.randn(size, rank) / size**0.5)  # V
        self.rank = rank

    def forward(self, seen: Seen) -> Weights:
        """σ(I·A_y + b_y), (n,)."""
        return self.logits(seen).sigmoid()

    def logits(self, seen: Seen) -> Tensor:
        """I·A_y + b_y, (n,)."""
        y = labels_of(seen, len(self.bias))  # (n,)
        state = side_by_side(self.features, seen, self.bias.dtype)  # (n, d)
        if self.rank is not None:
            state = state @ self.basis  # (n, r)
        return (state * self.directions[y]).sum(1) + self.bias[y]
