"""What is measured on: a student with its batches, the same for every system.

Inputs are noise and labels random, since the cost of a step does not depend on them.
"""

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import SGD

from reweigh.bench.transformer import VOCABULARY, Encoder
from reweigh.models.build import build
from reweigh.teachers import InteractionTeacher

CLASSES = 10
RATE, MOMENTUM, DECAY = 0.01, 0.9, 1e-4

_BATCH = {"wrn-28-10": 8, "transformer": 16}
_SENTENCE = 25
_TRUSTED = 1_000_000  # a number that no training batch has

Labelled = tuple[Tensor, Tensor]


class Watched(nn.Module):
    """A model that hands out the input of its last layer too, so that no system needs a hook."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.fc, model.fc = model.fc, nn.Identity()
        self.body = model

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (n, C) and the features under them (n, d)."""
        features = self.body(x)
        return self.fc(features), features


def logits(student: nn.Module, batch: Labelled) -> Tensor:
    """What it answers, (n, C), without the features."""
    return student(batch[0])[0]


def per_sample_loss(student: nn.Module, batch: Labelled) -> Tensor:
    """Cross-entropy, (n,)."""
    return F.cross_entropy(logits(student, batch), batch[1], reduction="none")


@dataclass(frozen=True)
class Subject:
    """A model by name (any that `build` knows, or "transformer") with its usual batch size."""

    name: str

    @property
    def batch_size(self) -> int:
        """128 images of 32×32, 8 for the wide ResNet, 16 sentences of 25 tokens."""
        return _BATCH.get(self.name, 128)

    def student(self) -> Watched:
        """The student, equal each time."""
        if self.name == "transformer":
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(0)
                return Watched(Encoder(CLASSES))
        return Watched(build(self.name, (3, 32, 32), CLASSES, seed=0))

    def optimizer(self, student: nn.Module) -> SGD:
        """SGD with momentum and weight decay, as the paper trains."""
        return SGD(student.parameters(), lr=RATE, momentum=MOMENTUM, weight_decay=DECAY)

    def teacher(self, student: nn.Module) -> InteractionTeacher:
        """The interaction teacher on the last layer's input, away from its all-zero start."""
        teacher = InteractionTeacher(student, layer="fc", num_classes=CLASSES)
        draw = torch.Generator().manual_seed(1)
        for p in teacher.parameters():
            p.data = 0.1 * torch.randn(p.shape, generator=draw)
        return teacher

    def batch(self, number: int) -> Labelled:
        """The training batch of that number."""
        draw = torch.Generator().manual_seed(number)
        n = self.batch_size
        y = torch.randint(CLASSES, (n,), generator=draw)
        if self.name == "transformer":
            return torch.randint(VOCABULARY, (n, _SENTENCE), generator=draw), y
        return torch.randn(n, 3, 32, 32, generator=draw), y

    def trusted(self) -> Labelled:
        """The trusted batch, as large as a training batch."""
        return self.batch(_TRUSTED)
