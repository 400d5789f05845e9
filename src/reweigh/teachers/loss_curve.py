"""Meta-Weight-Net's teacher: a curve from the sample's loss to its weight (Shu et al., 2019)."""

from torch import nn

from reweigh.student.seen import Seen
from reweigh.teachers.base import Teacher
from reweigh.typing import Weights


class LossCurveTeacher(Teacher):
    """1 → hidden → 1 with ReLU and σ, on the per-sample loss; weights divided by n, not by Σw.

    `normalise="sum"` is the paper's normalisation (and that of Meta-Weight-Net's older script).
    """

    def __init__(self, hidden: int = 100, *, normalise: str = "count") -> None:
        super().__init__()
        self.normalise = normalise
        self.first, self.last = nn.Linear(1, hidden), nn.Linear(hidden, 1)

    def forward(self, seen: Seen) -> Weights:
        """σ(MLP(ℓ)), (n,)."""
        losses = seen.losses[:, None].to(self.first.weight.dtype)  # (n, 1)
        return self.last(self.first(losses).relu()).squeeze(1).sigmoid()
