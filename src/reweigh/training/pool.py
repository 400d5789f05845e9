"""Labelled samples on the training device, in an order that depends on seed and epoch alone."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from reweigh.data.samples import Samples
from reweigh.student.batch import moved_to
from reweigh.training.images import Images, Normalisation
from reweigh.training.rows import Rows


@dataclass(frozen=True)
class Pool:
    """Inputs and labels by position."""

    inputs: Images | Rows
    labels: Tensor  # (N,) int64

    def __len__(self) -> int:
        return len(self.labels)

    def batch(self, positions: Tensor, epoch: int = 0, *, train: bool) -> tuple[Tensor, Tensor]:
        """(x, y) of the samples at these positions."""
        positions = moved_to(positions, self.labels.device)
        x = self.inputs.batch(positions, epoch, train=train)
        return x, self.labels.index_select(0, positions)


def pool(
    samples: Samples,
    normalisation: Normalisation | None,
    *,
    device: torch.device,
    augment: str = "none",
    seed: int = 0,
    channels_last: bool = False,
) -> Pool:
    """Put samples on a device; images (`normalisation` given) stay bytes there."""
    labels = torch.tensor(samples.labels, dtype=torch.int64, device=device)
    if normalisation is None:
        return Pool(Rows(samples.inputs, device=device), labels)
    images = Images(
        samples.inputs,
        normalisation,
        ids=samples.ids,
        augment=augment,
        seed=seed,
        device=device,
        channels_last=channels_last,
    )
    return Pool(images, labels)


def order(size: int, seed: int, purpose: str, number: int) -> Tensor:
    """A permutation of `size` positions that depends on these words alone."""
    words = [seed, *purpose.encode(), number]
    return torch.from_numpy(np.random.default_rng(words).permutation(size))


def batches_of(size: int, batch_size: int) -> int:
    """Batches per pass over `size` samples: as many as make them nearly equal and nearly full.

    A small rest at the end would give its samples large shares of a step (weights sum to 1 in a
    batch) and batch normalisation a poor mean.
    """
    return max(1, round(size / batch_size))


def split(positions: Tensor, batch_size: int) -> list[Tensor]:
    """A pass over these positions, batch by batch."""
    return list(torch.tensor_split(positions, batches_of(len(positions), batch_size)))


def trusted_positions(size: int, batch: int, seed: int, update: int) -> Tensor:
    """The trusted samples of one update: passes over the trusted set, each in a new order."""
    batch = min(batch, size)
    per_pass = size // batch
    positions = order(size, seed, "trusted", update // per_pass)
    start = (update % per_pass) * batch
    return positions[start : start + batch]
