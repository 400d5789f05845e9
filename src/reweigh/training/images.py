"""Images resident in memory as bytes, handed out as normalised float batches.

Whole CIFAR-10 is 184 MB of bytes, so it stays on the training device once and a batch is an index:
no worker processes, no decoding, no copy from host to device in the loop.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor

from reweigh.errors import DataError
from reweigh.student.batch import moved_to
from reweigh.training.augment import choose

_CHUNK = 1024  # images counted at a time, so that statistics need little memory


@dataclass(frozen=True)
class Normalisation:
    """Mean and standard deviation of each channel, in bytes (0 … 255).

    Taken from the *training* images and used for trusted and test images alike.
    """

    mean: tuple[float, ...]
    std: tuple[float, ...]

    @classmethod
    def of(cls, inputs: np.ndarray) -> Self:
        """Statistics of uint8 images (N, H, W, C), exact, from a histogram of each channel.

        A channel that never changes has deviation 0 and is divided by 1 instead.
        """
        channels = inputs.shape[-1]
        counts = np.zeros((channels, 256), dtype=np.int64)
        for start in range(0, len(inputs), _CHUNK):
            chunk = inputs[start : start + _CHUNK].reshape(-1, channels)
            counts += [np.bincount(column, minlength=256) for column in chunk.T]
        share = counts / counts.sum(axis=1, keepdims=True)  # (C, 256)
        mean = share @ np.arange(256)
        std = np.sqrt((share * (np.arange(256) - mean[:, None]) ** 2).sum(axis=1))
        std[std == 0] = 1
        return cls(tuple(mean.tolist()), tuple(std.tolist()))


class Images:
    """uint8 images (N, H, W, C) that give float32 batches (n, C, H, W), (x − mean) / std.

    Args:
        inputs: the images.
        normalisation: of the training images.
        ids: int64 (N,), what the augmentation calls each sample; positions by default.
        augment: `auto`, `crop-flip` or `none`.
        seed: of the augmentation.
        device: where the bytes live and the batches appear.
        channels_last: give batches in torch's channels_last memory format.
    """

    def __init__(
        self,
        inputs: np.ndarray,
        normalisation: Normalisation,
        *,
        ids: np.ndarray | None = None,
        augment: str = "auto",
        seed: int = 0,
        device: torch.device | str = "cpu",
        channels_last: bool = False,
    ) -> None:
        _check(inputs, ids)
        self.bytes = _planes(inputs).to(device)  # (N, C, H, W) uint8
        positions = np.arange(len(inputs)) if ids is None else ids
        self.ids = torch.tensor(positions, dtype=torch.int64, device=device)  # (N,)
        mean, std = (
            torch.tensor(v, dtype=torch.float32, device=device).view(1, -1, 1, 1)
            for v in (normalisation.mean, normalisation.std)
        )
        self.scale = 1 / std  # (1, C, 1, 1)
        self.shift = -mean / std
        self.augmentation = choose(augment, channels=inputs.shape[-1])
        self.seed = seed
        self.memory_format = torch.channels_last if channels_last else torch.contiguous_format

    def __len__(self) -> int:
        return len(self.bytes)

    def batch(self, indices: Tensor, epoch: int = 0, *, train: bool = True) -> Tensor:
        """The images at `indices` (n,), augmented for this epoch if `train`, normalised."""
        indices = moved_to(indices, self.bytes.device)
        images = self.bytes.index_select(0, indices)  # (n, C, H, W) uint8
        if train and self.augmentation is not None:
            images = self.augmentation(images, self.ids[indices], self.seed, epoch)
        images = images.to(torch.float32, memory_format=self.memory_format)
        return images.mul_(self.scale).add_(self.shift)


def _planes(inputs: np.ndarray) -> Tensor:
    """(N, H, W, C) as a tensor (N, C, H, W) of its own, never a view of the caller's memory."""
    return torch.tensor(np.ascontiguousarray(inputs.transpose(0, 3, 1, 2)))


def _check(inputs: np.ndarray, ids: np.ndarray | None) -> None:
    if inputs.dtype != np.uint8 or inputs.ndim != 4 or len(inputs) == 0:
        raise DataError(
            f"Images must be uint8 of shape (N, height, width, channels) with N ≥ 1, "
            f"got {inputs.dtype} {inputs.shape}."
        )
    if ids is not None and ids.shape != (len(inputs),):
        raise DataError(f"{len(inputs)} images need as many ids, got shape {ids.shape}.")
