"""A small convolutional network for grey images of about 28×28, made to be quick on a CPU.

Memory traffic on large maps, not arithmetic, is what costs on a CPU: the first convolution already
halves the map, and the two others work on 7×7. Averaging to a 4×4 grid keeps *where* something
is, which plain averaging loses, and lets the input have any size (8×8 digits too). Weights in
channels_last layout make convolutions answer in it, whose pooling is much quicker: a step takes three
quarters of the time. The architecture is ours, not the paper's.
"""

import torch
from torch import Tensor, nn, relu_
from torch.nn.functional import adaptive_avg_pool2d, max_pool2d, relu

from reweigh.errors import UsageError

GRID = 4  # the last maps are averaged to GRID × GRID


class CNN(nn.Module):
    """Three convolutions and 64 features: (n, in_channels, H, W) → logits (n, num_classes).

    `width` is the number of channels of the first convolution; the others have twice as many.
    """

    def __init__(self, in_channels: int, num_classes: int, *, width: int = 16) -> None:
        super().__init__()
        if not isinstance(width, int) or width < 1:
            raise UsageError(f"the width of a CNN must be a positive integer, got {width!r}")
        wide = 2 * width
        self.conv1 = nn.Conv2d(in_channels, width, 5, stride=2, padding=2, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, wide, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(wide)
        self.conv3 = nn.Conv2d(wide, wide, 3, padding=1, bias=False)
        self.bn3 = nn.BatchNorm2d(wide)
        self.hidden = nn.Linear(wide * GRID * GRID, 64)
        self.fc = nn.Linear(64, num_classes)
        self.to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue] (missing in torch's stubs)

    def forward(self, images: Tensor) -> Tensor:
        """Logits of a batch of images."""
        x = self.bn1(self.conv1(images))  # (n, width, H/2, W/2)
        # as pooling after relu would have it, with a quarter of the work
        x = relu_(max_pool2d(x, 2))  # (n, width, H/4, W/4)
        x = relu_(self.bn2(self.conv2(x)))  # (n, 2·width, H/4, W/4)
        x = relu_(self.bn3(self.conv3(x)))
        x = adaptive_avg_pool2d(x, GRID).flatten(start_dim=1)  # (n, 2·width·16)
        return self.fc(relu(self.hidden(x)))
