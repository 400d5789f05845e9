"""A multilayer perceptron: the student for tables, and a quick one for anything small."""

from collections.abc import Sequence
from itertools import pairwise

from torch import Tensor, nn

from reweigh.errors import UsageError


class MLP(nn.Module):
    """Linear → ReLU for each hidden size, then `fc`: (n, …) → logits (n, num_classes).

    Inputs of more than one dimension are flattened, so that small images can be given as they are.
    The widths 128 and 64 are our choice: the last one is I_0, as wide as ResNet's.
    """

    def __init__(
        self, in_features: int, num_classes: int, *, hidden: Sequence[int] = (128, 64)
    ) -> None:
        super().__init__()
        if not isinstance(hidden, Sequence) or not all(map(_is_width, hidden)):
            raise UsageError(f"hidden must be a list of positive integers, got {hidden!r}")
        widths = [in_features, *hidden]
        layers: list[nn.Module] = []
        for width, next_width in pairwise(widths):
            layers += [nn.Linear(width, next_width), nn.ReLU()]
        self.hidden = nn.Sequential(*layers)
        self.fc = nn.Linear(widths[-1], num_classes)

    def forward(self, rows: Tensor) -> Tensor:
        """Logits of a batch of rows."""
        return self.fc(self.hidden(rows.flatten(start_dim=1)))


def _is_width(value: object) -> bool:
    return isinstance(value, int) and value > 0
