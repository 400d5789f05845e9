"""Random crops and flips that depend on nothing but the seed, the epoch and the sample.

The CIFAR recipe: pad four pixels by reflection, crop back at a random place, mirror every second
image. The random bits of sample i are a hash of (seed, epoch, i), so a sample looks the same in an
epoch whatever batch, worker or process it falls in, and a resumed run needs no generator state.
The whole batch is done by index arithmetic, on whatever device it is.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from reweigh.errors import UsageError
from reweigh.hashed_draws import random_bits

Augmentation = Callable[[Tensor, Tensor, int, int], Tensor]
"""(images, sample ids, seed, epoch) → images."""

PADDING = 4


def choose(name: str, channels: int) -> Augmentation | None:
    """The augmentation of that name; `auto` is `crop-flip` for colour images and none for grey.

    A mirrored digit is another sign, and our small grey sets are measured without augmentation.
    """
    if name == "auto":
        name = "crop-flip" if channels == 3 else "none"
    if name not in ("crop-flip", "none"):
        raise UsageError(f"There is no augmentation {name!r}; use auto, crop-flip or none.")
    return crop_flip if name == "crop-flip" else None


def crop_flip(images: Tensor, ids: Tensor, seed: int, epoch: int) -> Tensor:
    """Each image shifted by −4 … 4 pixels each way, reflected at the border, half of them mirrored.

    Args:
        images: (n, C, H, W) of any dtype, contiguous; H and W at least 5.
        ids: (n,) int64, the samples' identities, on the same device.
        seed: of the run.
        epoch: of the run; another epoch gives another draw.
    """
    n, channels, height, width = images.shape
    if min(height, width) <= PADDING:
        raise UsageError(
            f"The augmentation crop-flip reflects {PADDING} pixels at the border, so images must be at least "
            f"{PADDING + 1} wide and high, got {height}×{width}; set augment to 'none'."
        )
    rows, columns = _source_pixels(ids, seed, epoch, height, width)
    plane = torch.arange(n * channels, device=images.device).view(n, channels, 1)
    lines = (plane * height + rows[:, None, :]).flatten()  # (n·C·H,)
    shifted = images.reshape(-1, width).index_select(0, lines).view(images.shape)
    return shifted.gather(3, columns[:, None, None, :].expand_as(images))


def _source_pixels(
    ids: Tensor, seed: int, epoch: int, height: int, width: int
) -> tuple[Tensor, Tensor]:
    """From which row and column of the original each pixel comes: (n, H) and (n, W)."""
    bits = random_bits(ids, seed, epoch)
    down = _below(2 * PADDING + 1, bits) - PADDING  # (n,)
    right = _below(2 * PADDING + 1, bits >> 24) - PADDING
    mirrored = ((bits >> 48) & 1).bool()
    rows = torch.arange(height, device=ids.device) + down[:, None]  # (n, H)
    columns = torch.arange(width, device=ids.device) + right[:, None]  # (n, W)
    columns = torch.where(mirrored[:, None], columns.flip(1), columns)
    return _reflect(rows, height), _reflect(columns, width)


def _below(count: int, bits: Tensor) -> Tensor:
    """A number in 0 … count − 1 from the lowest 24 bits; uneven by less than count / 2^24."""
    return ((bits & 0xFFFFFF) * count) >> 24


def _reflect(position: Tensor, size: int) -> Tensor:
    """Positions outside 0 … size − 1 mirrored at the border pixel, which is not repeated."""
    last = size - 1
    return last - (last - position.abs()).abs()
