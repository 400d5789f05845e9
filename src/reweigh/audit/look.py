"""A finished run's student looks at every training sample once, in evaluation mode."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from reweigh import signals
from reweigh.config import RunConfig
from reweigh.config.methods import UniformConfig
from reweigh.data.samples import Problem
from reweigh.methods import method_for
from reweigh.student import find_layer
from reweigh.training.start import load_student
from reweigh.training.tasks.classification import Classification
from reweigh.training.workshop import device_after

CHUNK = 1000


@dataclass(frozen=True)
class Look:
    """What the student makes of the training set."""

    probabilities: NDArray[np.float32]  # (n, K)
    states: NDArray[np.float32]  # (m, d), the internal state I_0 of the samples at `shown`
    shown: NDArray[np.int64]  # (m,)


def look(config: RunConfig, problem: Problem, model: Path, most_states: int = 2000) -> Look:
    """One pass over the training samples, unaugmented, with internal states of some of them.

    The samples are the problem's own, whoever weighed them: plain training's task holds them.
    """
    device = device_after(config.device)
    task = Classification(config, problem, method_for(UniformConfig()), device)
    load_student(task.student, model)
    task.student.eval()
    n = len(task.train)
    last_layer = find_layer(task.student, task.layers["I0"])
    shown = np.linspace(0, n - 1, min(n, most_states)).astype(np.int64)
    wanted = torch.zeros(n, dtype=torch.bool)
    wanted[torch.from_numpy(shown)] = True
    probabilities, states = [], []
    for positions in torch.arange(n).split(CHUNK):
        signals.check()
        p, state = _pass(task, last_layer, positions)
        probabilities.append(p.cpu().numpy())
        states.append(state[wanted[positions].to(state.device)].cpu().numpy())
    return Look(np.concatenate(probabilities), np.concatenate(states), shown)


@torch.no_grad()
def _pass(task: Classification, last_layer: nn.Module, positions: Tensor) -> tuple[Tensor, Tensor]:
    """p(k | x) (n, K) and what the last linear layer sees, (n, d)."""
    x, _ = task.train.batch(positions, train=False)
    seen: list[Tensor] = []
    handle = last_layer.register_forward_hook(lambda _layer, args, _out: seen.append(args[0]))
    try:
        p = task.forward(task.student, x).softmax(1)
    finally:
        handle.remove()
    return p, seen[-1].flatten(1).float()
