"""A small problem, and the plain loop that every adapter must equal."""

import torch
from torch import Tensor, nn

import reweigh

X = torch.randn(40, 4, generator=torch.Generator().manual_seed(0))
Y = torch.arange(40) % 3
TRUSTED = (X[:9], Y[:9])
SETTINGS = {"every": 2, "through": 1}


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))


def teacher(student: nn.Module, layer: str = "2") -> reweigh.Teacher:
    return reweigh.InteractionTeacher(student, layer=layer, num_classes=3)


def batches(size: int = 8) -> list[tuple[Tensor, Tensor]]:
    return list(zip(X.split(size), Y.split(size), strict=True))


def plain(
    epochs: int, *, adam: bool = False, accumulate: int = 1, clip_norm: float | None = None
) -> tuple[list[Tensor], reweigh.Reweigher]:
    """Parameters of student and teacher after a loop of one's own."""
    student = net()
    one = teacher(student)
    optimizer = optimizer_of(student, adam=adam)
    loop = reweigh.Reweigher(
        student,
        optimizer,
        one,
        trusted=TRUSTED,
        accumulate=accumulate,
        clip_norm=clip_norm,
        **SETTINGS,
    )
    for _ in range(epochs):
        for batch in batches():
            loop.step(*batch)
        loop.flush()
    return parameters(student, one), loop


def optimizer_of(student: nn.Module, *, adam: bool = False) -> torch.optim.Optimizer:
    if adam:
        return torch.optim.AdamW(student.parameters(), 0.01)
    return torch.optim.SGD(student.parameters(), 0.1, momentum=0.9)


def parameters(student: nn.Module, one: reweigh.Teacher) -> list[Tensor]:
    return [p.detach().clone() for p in (*student.parameters(), *one.parameters())]


def assert_same(one: list[Tensor], other: list[Tensor]) -> None:
    for a, b in zip(one, other, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-7)
