"""How often the student is wrong."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from reweigh import signals
from reweigh.distributed.group import gathered, own_part, world
from reweigh.student.evaluating import evaluating
from reweigh.training.pool import Pool

CHUNK = 1000
Forward = Callable[[nn.Module, Tensor], Tensor]


def predictions(student: nn.Module, pool: Pool, forward: Forward) -> Tensor:
    """Predicted labels of every sample, (N,)."""
    return _of_every_sample(student, pool, lambda s, x: forward(s, x).argmax(1))


def probabilities(student: nn.Module, pool: Pool, forward: Forward) -> Tensor:
    """p(k | x) of every sample, (N, K)."""
    return _of_every_sample(student, pool, lambda s, x: forward(s, x).softmax(1))


@torch.no_grad()
def _of_every_sample(student: nn.Module, pool: Pool, answer: Forward) -> Tensor:
    """Answers in the pool's order, in evaluation mode; the mode comes back.

    Of several processes each answers its part, in equally many chunks.
    """
    own = own_part(torch.arange(len(pool), device=pool.labels.device))
    chunks = max(1, math.ceil(len(pool) / world() / CHUNK))
    parts = []
    with evaluating(student):
        for positions in own.tensor_split(chunks):
            signals.check()
            x, _ = pool.batch(positions, train=False)
            parts.append(answer(student, x))
    return gathered(torch.cat(parts))


def error(student: nn.Module, pool: Pool, forward: Forward) -> float:
    """Share of wrong predictions, in [0, 1]."""
    return _share(predictions(student, pool, forward) != pool.labels)


@dataclass(frozen=True)
class Errors:
    """Shares of wrong predictions, in [0, 1]."""

    of_all: float
    per_class: list[float | None]
    """In the order of the classes; None where a class has no sample."""
    predicted: Tensor  # (N,)


def errors(student: nn.Module, pool: Pool, forward: Forward, num_classes: int) -> Errors:
    """Of all samples and of those of each class, from one look at them."""
    predicted = predictions(student, pool, forward)  # (N,)
    wrong = predicted != pool.labels  # (N,)
    of_class = [
        _share(part) if len(part := wrong[pool.labels == k]) else None for k in range(num_classes)
    ]
    return Errors(_share(wrong), of_class, predicted)


def _share(wrong: Tensor) -> float:
    return wrong.float().mean().item()
