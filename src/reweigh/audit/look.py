"""A finished run's students look at the training samples, in evaluation mode.

The one that is best by the trusted samples judges the labels, so it sees all of them. The one of the last
epoch is the one that the last weights were given to: only its loss and its states belong beside them. It
sees the samples that charts show.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from reweigh import signals
from reweigh.audit.opened import judge_of
from reweigh.config import RunConfig
from reweigh.data.samples import Problem
from reweigh.student import find_layer
from reweigh.training.start import load_student
from reweigh.training.tasks.classification import Classification

CHUNK = 1000


@dataclass(frozen=True)
class Look:
    """What two students make of the training set."""

    probabilities: NDArray[np.float32]  # (n, K), by the best student
    shown: NDArray[np.int64]  # (m,), positions of the samples for charts
    losses: NDArray[np.float32]  # (m,), of their given labels, by the last student
    states: NDArray[np.float32]  # (m, d), the last student's internal states I_0 of them


def look(config: RunConfig, problem: Problem, folder: Path, most_shown: int = 2000) -> Look:
    """One pass over the training samples, unaugmented, and another over at most `most_shown`."""
    task = judge_of(config, problem)
    assert isinstance(task, Classification)
    n = len(task.train)
    shown = np.linspace(0, n - 1, min(n, most_shown)).astype(np.int64)
    best = _seen(task, folder / "best.safetensors", torch.arange(n))
    judged = torch.cat([logits.softmax(1) for logits, _ in best])
    last = _seen(task, folder / "model.safetensors", torch.from_numpy(shown))
    logits, states = (torch.cat(parts) for parts in zip(*last, strict=True))
    given = torch.from_numpy(problem.train.labels[shown]).long()
    losses = cross_entropy(logits, given, reduction="none")
    return Look(judged.numpy(), shown, losses.numpy(), states.numpy())


def _seen(task: Classification, model: Path, samples: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Logits (·, K) and internal states (·, d) of a stored student at these samples, in chunks."""
    load_student(task.student, model)
    task.student.eval()
    last_layer = find_layer(task.student, task.layers["I0"])
    for positions in samples.split(CHUNK):
        signals.check()
        logits, states = _pass(task, last_layer, positions)
        yield logits.cpu(), states.cpu()


@torch.no_grad()
def _pass(task: Classification, last_layer: nn.Module, positions: Tensor) -> tuple[Tensor, Tensor]:
    """Logits (n, K) and what the last linear layer sees, (n, d)."""
    x, _ = task.train.batch(positions, train=False)
    seen: list[Tensor] = []
    handle = last_layer.register_forward_hook(lambda _layer, args, _out: seen.append(args[0]))
    try:
        logits = task.forward(task.student, x)
    finally:
        handle.remove()
    return logits.float(), seen[-1].flatten(1).float()
