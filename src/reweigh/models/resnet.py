"""ResNet for 32×32 images (He et al. 2016, section 4.2), the paper's main student.

Three stages of n residual blocks on 32×32, 16×16 and 8×8 maps, 16, 32 and 64 channels wide; depth
is 6n + 2. Shortcuts are *option A*: where the shape changes, the input is subsampled and padded
with zero channels, so that a shortcut never has parameters. Averaging the last maps gives the
64 features that `fc`, the last layer, sees: the paper's I_0.

No ReLU works in place: a feature that was tapped on its way must not change afterwards.
"""

from torch import Tensor, nn
from torch.nn.functional import pad, relu

from reweigh.errors import UsageError


class ResNet(nn.Module):
    """CIFAR ResNet of depth 6n + 2: (n, in_channels, H, W) → logits (n, num_classes)."""

    def __init__(self, in_channels: int, num_classes: int, *, depth: int = 32) -> None:
        super().__init__()
        blocks = blocks_per_stage(depth)
        self.conv1 = nn.Conv2d(in_channels, 16, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.layer1 = _stage(16, 16, blocks, stride=1)
        self.layer2 = _stage(16, 32, blocks, stride=2)
        self.layer3 = _stage(32, 64, blocks, stride=2)
        self.fc = nn.Linear(64, num_classes)
        self.apply(_kaiming_normal)

    def forward(self, images: Tensor) -> Tensor:
        """Logits of a batch of images."""
        x = relu(self.bn1(self.conv1(images)))  # (n, 16, H, W)
        x = self.layer3(self.layer2(self.layer1(x)))  # (n, 64, H/4, W/4)
        return self.fc(x.mean(dim=(2, 3)))


class BasicBlock(nn.Module):
    """relu(x' + BN(conv(relu(BN(conv(x)))))), where x' is x brought to the new shape for free."""

    def __init__(self, in_width: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_width, width, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.stride = stride
        self.new_channels = width - in_width

    def forward(self, x: Tensor) -> Tensor:
        """One residual step."""
        residual = relu(self.bn1(self.conv1(x)))
        residual = self.bn2(self.conv2(residual))
        return relu(self._shortcut(x) + residual)

    def _shortcut(self, x: Tensor) -> Tensor:
        """Option A: every `stride`-th pixel, the new channels as zeros, half on each side."""
        if self.stride == 1 and self.new_channels == 0:
            return x
        before = self.new_channels // 2
        channels = (0, 0, 0, 0, before, self.new_channels - before)
        return pad(x[:, :, :: self.stride, :: self.stride], channels)


def blocks_per_stage(depth: int) -> int:
    """The n of depth = 6n + 2; any other depth is refused with the nearest that exist."""
    blocks, rest = divmod(depth - 2, 6)
    if blocks < 1 or rest:
        below = max(1, blocks) * 6 + 2
        raise UsageError(
            f"a CIFAR ResNet has 6n + 2 layers, got depth {depth}; use {below} or {below + 6}"
        )
    return blocks


def _stage(in_width: int, width: int, blocks: int, stride: int) -> nn.Sequential:
    first = BasicBlock(in_width, width, stride)
    return nn.Sequential(first, *(BasicBlock(width, width, 1) for _ in range(blocks - 1)))


def _kaiming_normal(module: nn.Module) -> None:
    """Kaiming-normal (fan-in) for every convolution and the last layer, as in the public code."""
    if isinstance(module, nn.Conv2d | nn.Linear):
        nn.init.kaiming_normal_(module.weight)
