"""A finished run's students look at the training samples, in evaluation mode.

The one that is best by the trusted samples judges the labels, so it sees all of them. The one of the last
epoch is the one that the last weights were given to: only its loss and its states belong beside them. It
sees the samples that charts show.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from reweigh import signals
from reweigh.audit.opened import judge_of
from reweigh.audit.share import right_shares
from reweigh.config import RunConfig
from reweigh.config.methods import trains_on_trusted
from reweigh.config.writing import plain_values
from reweigh.data.samples import Problem
from reweigh.evenly_spread import evenly_spread
from reweigh.run_files import student_file
from reweigh.student.student import find_layer
from reweigh.training.evaluate import probabilities
from reweigh.training.start import load_student
from reweigh.training.tasks.classification import Classification

CHUNK = 1000
HARDLY_ANY = 0.1
"""A student that finds no more of a class's trusted samples does not know that class. Our choice."""


@dataclass(frozen=True)
class Look:
    """What two students make of the training set."""

    probabilities: NDArray[np.float32]  # (n, K), by the best student
    shown: NDArray[np.int64]  # (m,), positions of the samples for charts
    losses: NDArray[np.float32]  # (m,), of their given labels, by the last student
    states: NDArray[np.float32]  # (m, d), the last student's internal states I_0 of them
    known: NDArray[np.bool_]  # (K,), the classes that the best student can tell
    right: NDArray[np.float64] | None = None  # (K,), share of right labels, if it can be told


def look(config: RunConfig, problem: Problem, folder: Path, most_shown: int = 2000) -> Look:
    """One pass over the training samples, unaugmented, and another over at most `most_shown`."""
    task = judge_of(config, problem)
    assert isinstance(task, Classification)
    task.student.eval()
    shown = evenly_spread(len(task.train), most_shown)
    load_student(task.student, student_file(folder, last=False))
    p = _answers(task, torch.arange(len(task.train))).softmax(1).numpy()
    sure, trusted = _sure_answers(task), problem.trusted.labels  # (t, K), (t,)
    known = known_classes(trusted, sure.argmax(1), p)
    alike = trains_on_trusted(plain_values(config.method))
    right = right_shares(problem.train.labels, p, trusted, sure) if alike else None
    load_student(task.student, student_file(folder, last=True))
    logits, states = _answers_and_states(task, torch.from_numpy(shown))
    given = torch.from_numpy(problem.train.labels[shown]).long()
    losses = cross_entropy(logits, given, reduction="none")
    return Look(p, shown, losses.numpy(), states.numpy(), known, right)


def known_classes(
    trusted: NDArray[np.int64], answers: NDArray[np.int64], p: NDArray[np.float32]
) -> NDArray[np.bool_]:
    """Which classes (K,) the student knows: it finds some of their trusted samples.

    Where no sample of a class is trusted, it must name the class for a training sample at least.
    """
    K = p.shape[1]
    size = np.bincount(trusted, minlength=K)
    found = np.bincount(trusted[answers == trusted], minlength=K)
    named = np.bincount(p.argmax(axis=1), minlength=K) > 0
    return np.where(size > 0, found > HARDLY_ANY * size, named)


def _sure_answers(task: Classification) -> NDArray[np.float32]:
    """The student's probabilities (t, K) for the trusted samples."""
    return probabilities(task.student, task.trusted, task.forward).float().cpu().numpy()


def _answers(task: Classification, samples: Tensor) -> Tensor:
    """Logits (n, K) of the student at these samples, in chunks."""
    return torch.cat([_logits(task, positions) for positions in samples.split(CHUNK)])


def _answers_and_states(task: Classification, samples: Tensor) -> tuple[Tensor, Tensor]:
    """Logits (m, K), and what the last linear layer sees, (m, d), in chunks."""
    seen: list[Tensor] = []
    logits, states = [], []
    layer = find_layer(task.student, task.layers["I0"])
    handle = layer.register_forward_hook(lambda _layer, args, _out: seen.append(args[0]))
    try:
        for positions in samples.split(CHUNK):
            logits.append(_logits(task, positions))
            states.append(seen[-1].flatten(1).float().cpu())  # a layer may be asked twice
    finally:
        handle.remove()
    return torch.cat(logits), torch.cat(states)


@torch.no_grad()
def _logits(task: Classification, positions: Tensor) -> Tensor:
    """Logits (n, K) in one pass."""
    signals.check()
    x, _ = task.train.batch(positions, train=False)
    return task.forward(task.student, x).float().cpu()
