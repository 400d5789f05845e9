"""Wide ResNet (Zagoruyko & Komodakis 2016), the paper's large student as WRN-28-10.

Pre-activation blocks (BatchNorm and ReLU come before each convolution), three stages of
n = (depth − 4) / 6 blocks, 16k, 32k and 64k channels wide for widening factor k. Where the shape
changes the shortcut is a 1×1 convolution of the *activated* input; elsewhere it is the raw input.
No dropout: the paper's runs use none.
"""

from torch import Tensor, nn
from torch.nn.functional import relu

from reweigh.errors import UsageError


class WideResNet(nn.Module):
    """WRN-depth-widen: (n, in_channels, H, W) → logits (n, num_classes), 64·widen features."""

    def __init__(
        self, in_channels: int, num_classes: int, *, depth: int = 28, widen: int = 10
    ) -> None:
        super().__init__()
        blocks = blocks_per_stage(depth)
        if widen < 1:
            raise UsageError(f"a wide ResNet's widening factor is at least 1, got {widen}")
        self.conv1 = nn.Conv2d(in_channels, 16, 3, padding=1, bias=False)
        self.layer1 = _stage(16, 16 * widen, blocks, stride=1)
        self.layer2 = _stage(16 * widen, 32 * widen, blocks, stride=2)
        self.layer3 = _stage(32 * widen, 64 * widen, blocks, stride=2)
        self.bn1 = nn.BatchNorm2d(64 * widen)
        self.fc = nn.Linear(64 * widen, num_classes)
        self.apply(_he_fan_out)

    def forward(self, images: Tensor) -> Tensor:
        """Logits of a batch of images."""
        x = self.layer3(self.layer2(self.layer1(self.conv1(images))))  # (n, 64k, H/4, W/4)
        return self.fc(relu(self.bn1(x)).mean(dim=(2, 3)))


class PreActivationBlock(nn.Module):
    """x' + conv(relu(BN(conv(a)))) with a = relu(BN(x)), and x' = x or conv1×1(a)."""

    def __init__(self, in_width: int, width: int, stride: int) -> None:
        super().__init__()
        self.bn1 = nn.BatchNorm2d(in_width)
        self.conv1 = nn.Conv2d(in_width, width, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.shortcut = (
            nn.Conv2d(in_width, width, 1, stride=stride, bias=False)
            if stride != 1 or in_width != width
            else None
        )

    def forward(self, x: Tensor) -> Tensor:
        """One residual step."""
        a = relu(self.bn1(x))
        shortcut = x if self.shortcut is None else self.shortcut(a)
        return shortcut + self.conv2(relu(self.bn2(self.conv1(a))))


def blocks_per_stage(depth: int) -> int:
    """The n of depth = 6n + 4; any other depth is refused with the nearest that exist."""
    blocks, rest = divmod(depth - 4, 6)
    if blocks < 1 or rest:
        below = max(1, blocks) * 6 + 4
        raise UsageError(
            f"a wide ResNet has 6n + 4 layers, got depth {depth}; use {below} or {below + 6}"
        )
    return blocks


def _stage(in_width: int, width: int, blocks: int, stride: int) -> nn.Sequential:
    first = PreActivationBlock(in_width, width, stride)
    return nn.Sequential(first, *(PreActivationBlock(width, width, 1) for _ in range(blocks - 1)))


def _he_fan_out(module: nn.Module) -> None:
    """He initialisation by fan-out for convolutions, a zero bias for the last layer."""
    if isinstance(module, nn.Conv2d):
        nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    elif isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)
