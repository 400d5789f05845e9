"""Three blobs whose labels are flipped to the next class, and a setting to build methods in."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from reweigh.data.samples import Problem, Samples, numbered
from reweigh.methods import Setting
from reweigh.student.batch import cross_entropy
from reweigh.training.tasks.classification import class_feature

CLASSES = 3


@dataclass(frozen=True)
class Blobs:
    x: Tensor  # (n, 2)
    true: Tensor  # (n,)
    given: Tensor  # (n,)

    @property
    def right(self) -> Tensor:
        return self.true == self.given


def blobs(n: int, seed: int, flipped: float = 0.35) -> Blobs:
    draw = torch.Generator().manual_seed(seed)
    true = torch.randint(CLASSES, (n,), generator=draw)
    centres = torch.tensor([[0.0, 2.0], [1.7, -1.0], [-1.7, -1.0]])
    x = centres[true] + 0.5 * torch.randn(n, 2, generator=draw)
    wrong = torch.rand(n, generator=draw) < flipped
    return Blobs(x, true, (true + wrong) % CLASSES)


def student() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, CLASSES))


def setting(
    net: nn.Module,
    trusted: Callable[[int, int], tuple[Tensor, Tensor]],
    right: Tensor | None = None,
    layers: dict[str, str] | None = None,
) -> Setting:
    """What a method is given; `trusted` gives the batch of an update's number and a size."""
    layers = {"I0": "2"} if layers is None else layers
    return Setting(
        student=net,
        optimizer=torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9),
        per_sample_loss=cross_entropy,
        trusted=trusted,
        all_trusted=lambda: trusted(0, 1_000_000),
        num_classes=CLASSES,
        layers=layers,
        feature=lambda name: class_feature(name, net, layers, CLASSES),
        steps=100,
        epoch=50,
        right=right,
        seed=0,
    )


def problem(train: int = 40, trusted: int = 12, known: bool = True) -> Problem:
    """The same blobs as a table, split three ways."""

    def part(n: int, seed: int) -> tuple[Samples, np.ndarray]:
        some = blobs(n, seed)
        return numbered(some.x.numpy(), some.true.numpy()), some.given.numpy()

    clean, given = part(train, 1)
    names = tuple("abc")
    true = clean.labels if known else None
    return Problem(
        clean.with_labels(given), part(trusted, 2)[0], part(20, 3)[0], names, "table", true, {}
    )
