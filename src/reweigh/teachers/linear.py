r"""The paper's teacher: $w = \sigma(W_I I + E M + b)$, additive in its features."""

from collections.abc import Sequence

from reweigh.teachers.features import Feature
from reweigh.teachers.mlp import MLPTeacher


class LinearTeacher(MLPTeacher):
    """σ of one linear map of all features side by side (MLP-0 of the paper)."""

    def __init__(self, features: Sequence[Feature]) -> None:
        super().__init__(features, hidden_layers=0)
