"""What differs between kinds of work; the loop, the run folder and the methods know no more of it.

A task is one problem as one method sees it, placed on a device, with the student that learns it:
it gives the batches of a step, the loss of every sample, and says how good the student is.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from reweigh.methods import AnyProblem, Method
from reweigh.teachers import Feature
from reweigh.training.result import RunResult
from reweigh.training.start import load_student
from reweigh.typing import Batch


@dataclass(frozen=True)
class Standing:
    """How good a student is on the trusted set: the only thing that a choice may rest on."""

    name: str
    """What `value` is called: error, loss."""
    value: float
    """Lower is better."""
    accuracy: float
    """Share of right answers in [0, 1], for what learns from it: M_1, L2T-data."""
    shown: str
    """For people."""


class Task(ABC):
    """One problem under one method, with its student."""

    Result: ClassVar[type[RunResult]]
    """What its runs come to."""

    student: nn.Module
    size: int
    """How many samples are trained on; their positions 0 … size − 1 name them."""
    ids: NDArray[np.int64]
    """(N,) by position: what the user calls them."""
    mixed_in: int
    """The last so many are trusted ones."""
    right: Tensor | None
    """(N,) bool by position: is the label right? None where nobody knows."""
    steps_per_pass: int
    """Of one pass over these samples."""
    steps_per_epoch: int
    """The same for every method: steps of one pass over what is in doubt."""
    augmented: bool = False
    """Whether a sample looks different in every epoch."""
    averaged: int = 0
    """The last so many epochs whose students are averaged into the one that a run ends with."""
    num_classes: int | None = None
    layers: dict[str, str]
    """Names of the student's layers behind I0 … I3 (a translator: I0, I1, M0), as far as it has them."""

    @abstractmethod
    def __init__(self, config: Any, problem: Any, method: Method, device: torch.device) -> None: ...

    @staticmethod
    @abstractmethod
    def spec(config: Any) -> Hashable:
        """What of the settings the problem depends on."""

    @staticmethod
    @abstractmethod
    def prepare(spec: Any) -> AnyProblem:
        """The problem, read from its files."""

    @staticmethod
    @abstractmethod
    def describe(problem: Any, chosen: Any, folder: Path) -> None:
        """Write what stands behind the positions, for whoever reads the run later.

        `chosen` is what the method trains on, of or instead of the problem's training set.
        """

    @property
    def doubtful(self) -> int:
        """The first so many training samples are those that are in doubt."""
        return self.size - self.mixed_in

    def called(self, positions: Iterable[int]) -> list[str]:
        """What messages call the samples at these positions: a trusted one may have another's id."""
        return [
            f"{self.ids[i]} (trusted)" if i >= self.doubtful else f"{self.ids[i]}"
            for i in positions
        ]

    def begin_from(self, weights: Path) -> None:
        """Go on from a student that was trained before."""
        load_student(self.student, weights)

    @abstractmethod
    def batches(self, number: int) -> list[Tensor]:
        """Positions of every batch of a pass, by the pass's number alone."""

    @abstractmethod
    def batch(self, positions: Tensor, number: int) -> Batch:
        """The samples at these positions as pass `number` shows them."""

    def tokens(self, positions: Tensor) -> int:
        """Target tokens of these samples, for the rate that is shown; 0 where there are none."""
        return 0

    def logits(self, student: nn.Module, batch: Batch) -> Tensor:
        """(n, C), where labels are classes."""
        raise NotImplementedError

    @abstractmethod
    def per_sample_loss(self, student: nn.Module, batch: Batch) -> Tensor:
        """What a step minimises, sample by sample, (n,)."""

    @abstractmethod
    def trusted_batch(self, update: int, size: int) -> Batch:
        """The trusted batch of one update of the teacher."""

    @abstractmethod
    def all_trusted(self) -> Batch:
        """The whole trusted set, as an evaluation sees it."""

    @abstractmethod
    def feature(self, name: str) -> Feature:
        """What a teacher may look at, by the paper's names."""

    @abstractmethod
    def standing(self) -> Standing:
        """How good the student is on the trusted set."""

    @abstractmethod
    def score(self) -> Any:
        """How good the student is on the test set: asked after the last epoch, never to choose."""

    @abstractmethod
    def result(self, common: dict[str, Any], last: Any, best: Any, trusted: Standing) -> RunResult:
        """What the run came to, from the scores of its last and its best student."""

    @abstractmethod
    def keep_answers(self, last: Any, best: Any, folder: Path) -> None:
        """Write what both students said of each test sample, where one answer is right or wrong."""

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """Samples in each part, by its name."""


def fingerprint(problem: AnyProblem) -> str:
    """Of all that is in the data; empty where nobody took it."""
    record = problem.record
    return str(record.get("fingerprint") or record.get("content") or "")


def trusted_ones(size: int, mixed_in: int) -> NDArray[np.bool_]:
    """Which of the samples that a method trains on are trusted ones, (N,): the last."""
    return np.arange(size) >= size - mixed_in


def path_or_none(text: str | None) -> Path | None:
    """A place that settings name, if they do."""
    return None if text is None else Path(text)
