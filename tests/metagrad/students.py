"""Tiny students that between them have every trait an engine can trip over."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import reweigh

CLASSES = 3


class ConvNet(nn.Module):
    """Convolutions, batch norm, dropout."""

    def __init__(self, act: Callable[[Tensor], Tensor] = F.relu) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(3)
        self.narrow = nn.Conv2d(3, 4, 3, stride=2)
        self.drop = nn.Dropout(0.3)
        self.fc = nn.Linear(4, CLASSES)
        self.act = act

    def forward(self, x: Tensor) -> Tensor:
        h = self.act(self.norm(self.conv(x)))
        return self.fc(self.drop(self.act(self.narrow(h)).mean((2, 3))))


class Attention(nn.Module):
    """A Transformer block with dropout, and a layer norm at the end."""

    def __init__(self, dropout: float = 0.2) -> None:
        super().__init__()
        self.block = nn.TransformerEncoderLayer(4, 2, 6, dropout=dropout, batch_first=True)
        self.norm = nn.LayerNorm(4)
        self.fc = nn.Linear(4, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.norm(self.block(x)).mean(1))


class Recurrent(nn.Module):
    """An LSTM, read at its last step."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(3, 4, batch_first=True)
        self.fc = nn.Linear(4, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.lstm(x)[0][:, -1])


class Odd(nn.Module):
    """One weight used twice (under two names), a frozen layer, a layer that never runs."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.again = nn.Linear(4, 4, bias=False)
        self.again.weight = self.first.weight
        self.frozen = nn.Linear(4, 4)
        self.frozen.requires_grad_(False)
        self.unused = nn.Linear(2, 2)
        self.fc = nn.Linear(4, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.again(self.frozen(self.first(x).tanh()).tanh()).tanh())


class Smooth(nn.Module):
    """Infinitely differentiable everywhere: for finite differences and for everything plain."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 5)
        self.fc = nn.Linear(5, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(F.gelu(self.first(x)))


STUDENTS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "conv+bn": (ConvNet, (2, 5, 5)),
    "attention+dropout": (Attention, (3, 4)),
    "lstm": (Recurrent, (4, 3)),
    "shared+frozen+unused": (Odd, (4,)),
    "smooth": (Smooth, (4,)),
    "smooth conv+bn": (partial(ConvNet, torch.tanh), (2, 5, 5)),
    "attention": (partial(Attention, 0.0), (3, 4)),
}
"""How to build each, and the shape of one of its samples."""


@dataclass(frozen=True)
class Data:
    """Batches to step on, and one trusted batch."""

    batches: list[tuple[Tensor, Tensor]]
    trusted: tuple[Tensor, Tensor]


def build(name: str, dtype: torch.dtype = torch.float64, seed: int = 0) -> nn.Module:
    """The student of that name, always with the same initial parameters."""
    torch.manual_seed(seed)
    return STUDENTS[name][0]().to(dtype)


def data_for(name: str, steps: int, n: int = 4, dtype: torch.dtype = torch.float64) -> Data:
    """The same batches every time, from a generator of their own."""
    shape = STUDENTS[name][1]
    draw = torch.Generator().manual_seed(7)

    def batch(size: int) -> tuple[Tensor, Tensor]:
        x = torch.randn(size, *shape, generator=draw, dtype=torch.float64).to(dtype)
        return x, torch.randint(CLASSES, (size,), generator=draw)

    return Data([batch(n) for _ in range(steps)], batch(n + 1))


def interaction(student: nn.Module) -> reweigh.Teacher:
    """An interaction teacher that is not at its flat start."""
    return awake(reweigh.InteractionTeacher(student, layer="fc", num_classes=CLASSES), student)


def awake(teacher: reweigh.Teacher, student: nn.Module) -> reweigh.Teacher:
    """The teacher at random parameters, in the student's type."""
    draw = torch.Generator().manual_seed(3)
    dtype = next(student.parameters()).dtype
    teacher = teacher.to(dtype)
    with torch.no_grad():
        for p in teacher.parameters():
            p.copy_(torch.randn(p.shape, generator=draw, dtype=torch.float64))
    return teacher
