"""A student two of whose layers are one."""

from torch import Tensor, nn


class Tied(nn.Module):
    """The same matrix twice, under two names."""

    def __init__(self, shape: tuple[int, ...], num_classes: int) -> None:
        super().__init__()
        (width,) = shape
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)
        self.second.weight = self.first.weight
        self.fc = nn.Linear(width, num_classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.second(self.first(x).relu()).relu())
