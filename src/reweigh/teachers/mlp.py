"""MLP-0/1/2 of the paper: ReLU layers as wide as the input, then σ of one number."""

from collections.abc import Sequence

from torch import nn

from reweigh.errors import UsageError
from reweigh.student.seen import Seen
from reweigh.teachers.base import Teacher
from reweigh.teachers.features import Feature, all_taps, side_by_side, total_size
from reweigh.typing import Weights


class MLPTeacher(Teacher):
    """`hidden_layers` ReLU layers, each as wide as the features together.

    The last map starts at zero, so that training starts as plain training, all weights alike (our
    choice: the paper does not say).
    """

    def __init__(self, features: Sequence[Feature], *, hidden_layers: int = 1) -> None:
        super().__init__()
        if not features:
            raise UsageError("a teacher needs at least one feature to look at")
        self.features = tuple(features)
        self.taps = all_taps(features)
        size = total_size(features)
        hidden = [m for _ in range(hidden_layers) for m in (nn.Linear(size, size), nn.ReLU())]
        self.last = nn.Linear(size, 1)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)
        self.hidden = nn.Sequential(*hidden)

    def forward(self, seen: Seen) -> Weights:
        """σ(MLP(features)), (n,)."""
        features = side_by_side(self.features, seen, self.last.weight.dtype)  # (n, d)
        return self.last(self.hidden(features)).squeeze(1).sigmoid()
