"""Problems and runs to audit, of a moment's making."""

from pathlib import Path

import numpy as np
from tests.training.small import settings

from reweigh.audit.look import Look
from reweigh.audit.run import Audit, judge
from reweigh.data.samples import Problem, numbered
from reweigh.training.progress import SilentProgress
from reweigh.training.run import train

K = 3


def evidence(
    n: int = 300, flipped: float = 0.3, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """True and given labels (n,), a student's probabilities (n, K) and weights (2, n).

    Wrong labels are one class up; both witnesses are right on average and err on their own.
    """
    rng = np.random.default_rng(seed)
    true = rng.integers(0, K, n)
    given = np.where(rng.random(n) < flipped, (true + 1) % K, true)
    scores = rng.normal(size=(n, K)) + 3 * np.eye(K)[true]
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    weights = np.where(given == true, 1.5, 0.2) + rng.normal(scale=0.8, size=(2, n))
    return true, given, p.astype(np.float32), weights.astype(np.float32)


def audited(
    class_names: tuple[str, ...] = ("a", "b", "c"),
    names: np.ndarray | None = None,
    flipped: float = 0.3,
) -> Audit:
    """An audit of tiny pictures that no run was needed for."""
    true, given, p, weights = evidence(flipped=flipped)
    p = np.pad(p, ((0, 0), (0, len(class_names) - p.shape[1])))  # further classes are never said
    inputs = np.random.default_rng(1).integers(0, 255, (len(true), 4, 4, 1), dtype=np.uint8)
    samples = numbered(inputs, given, names)
    problem = Problem(samples, samples, samples, class_names, "image", true, {})
    shown = np.arange(0, len(true), 3)
    losses = -np.log(p[shown, given[shown]])
    known = np.full(len(class_names), True)
    return judge(problem, weights, Look(p, shown, losses, p[shown], known))


def finished_run(folder: Path, *assignments: str) -> Path:
    """A run of a second on digits."""
    train(settings("training.epochs=2", *assignments), folder, SilentProgress())
    return folder
