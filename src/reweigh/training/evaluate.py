"""How often the student is wrong."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from reweigh.training import signals
from reweigh.training.pool import Pool

CHUNK = 1000


@torch.no_grad()
def predictions(
    student: nn.Module, pool: Pool, forward: Callable[[nn.Module, Tensor], Tensor]
) -> Tensor:
    """Predicted labels of every sample, (N,), in evaluation mode; the mode comes back."""
    modes = {m: m.training for m in student.modules()}
    student.eval()
    try:
        parts = []
        for positions in torch.arange(len(pool), device=pool.labels.device).split(CHUNK):
            signals.check()
            x, _ = pool.batch(positions, train=False)
            parts.append(forward(student, x).argmax(1))
    finally:
        for module, training in modes.items():
            module.training = training
    return torch.cat(parts)


def error(student: nn.Module, pool: Pool, forward: Callable[[nn.Module, Tensor], Tensor]) -> float:
    """Share of wrong predictions, in [0, 1]."""
    return (predictions(student, pool, forward) != pool.labels).float().mean().item()
