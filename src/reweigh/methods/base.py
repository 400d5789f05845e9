"""What a method may decide: which samples are trained on, and who weighs them.

The loop, the schedule, the evaluation and the data are the same for all, so that a difference
between two rows of a table is a difference between two methods.
"""

from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import Optimizer

from reweigh.distributed.gathering import own_part_of
from reweigh.errors import UsageError
from reweigh.reweigher import Reweigher
from reweigh.student.batch import outputs
from reweigh.teachers import Feature, Teacher
from reweigh.typing import Batch, PerSampleLoss

TRUTH = (
    "needs the true labels, which are known only where the noise was planted: give data.noise, or "
    "data.true_labels = 'original'"
)
"""Of a method that cannot do without them."""


class AnySamples(Sized, Protocol):
    """Samples of any kind."""

    @property
    def ids(self) -> NDArray[np.int64]:
        """(n,) which of the data set's own they are."""
        ...


class AnyProblem(Protocol):
    """What is learned from, whatever its samples are: labelled images, rows, pairs of sentences."""

    @property
    def train(self) -> AnySamples:
        """The samples that are in doubt."""
        ...

    @property
    def trusted(self) -> AnySamples:
        """The few that are not."""
        ...

    @property
    def record(self) -> dict[str, Any]:
        """What was done to get it, ready for JSON; another record, another problem."""
        ...

    @property
    def cautions(self) -> tuple[str, ...]:
        """What to know before believing a figure."""
        ...

    def trusted_alone(self) -> Self:
        """The trusted samples in place of the training set."""
        ...

    def with_trusted(self, copies: int = 1) -> Self:
        """The trusted samples, `copies` times, behind the training samples."""
        ...

    def put_right(self) -> Self | None:
        """The training set without the noise; None where nobody knows it."""
        ...


P = TypeVar("P", bound=AnyProblem)


@dataclass(frozen=True)
class Setting:
    """What stands ready when a method is asked for its reweigher."""

    student: nn.Module
    optimizer: Optimizer
    per_sample_loss: PerSampleLoss
    trusted: Callable[[int, int], Batch]
    """The trusted batch of an update's number and a size; the same numbers give the same batch."""
    all_trusted: Callable[[], Batch]
    """The whole trusted set, as an evaluation sees it: not augmented."""
    num_classes: int | None
    """None where labels are not classes: the target of a pair is a sentence."""
    layers: dict[str, str]
    """Names of the student's layers behind I0 … I3, as far as it has them."""
    feature: Callable[[str], Feature]
    """What a teacher may look at by the paper's names: I0 … I3, M0, M1."""
    steps: int
    """All steps of the run."""
    epoch: int
    """Steps from one look at a sample to the next."""
    right: Tensor | None
    """(N,) bool by sample id: is the label right? None where nobody knows."""
    seed: int
    repeats: int = 0
    """How often the student meets a sample that looks just as before; 0 where they are augmented."""
    clip_norm: float | None = None
    logits: Callable[[nn.Module, Batch], Tensor] = outputs
    """(n, C) of a batch, where labels are classes."""

    @property
    def classes(self) -> int:
        """How many classes there are, for methods that need some."""
        if self.num_classes is None:
            raise UsageError("this method needs class labels, and this task has none")
        return self.num_classes

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Inside, what a teacher begins with is drawn by the run's seed; the student's draws go on."""
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(self.seed)
            yield

    def reweigher(self, teacher: Teacher | None, **options: Any) -> Reweigher:
        """A reweigher on this student with the loop's own settings.

        Of several processes each takes its own part of the trusted batch.
        """
        whole = options.pop("trusted", None)
        if whole is not None:
            options["trusted"] = lambda update: own_part_of(whole(update))
        return Reweigher(
            self.student,
            self.optimizer,
            teacher,
            per_sample_loss=self.per_sample_loss,
            clip_norm=self.clip_norm,
            total_steps=self.steps,
            **options,
        )


class Trial(Protocol):
    """A short training of a fresh student under the method, for methods that learn from several."""

    def __call__(self, number: int) -> list[tuple[int, float]]:
        """Train once; after each epoch: samples the student has used, and its trusted accuracy."""
        ...


class Method:
    """One way of weighing samples, built from its settings."""

    def __init__(self, config: Any) -> None:
        self.config = config

    def problem(self, problem: P) -> P:
        """The samples to train on; most methods take them as they are."""
        return problem

    def prepare(self, trial: Trial) -> None:
        """Learn from trials before the run, where a method needs whole trainings."""

    def state_dict(self) -> dict[str, Any]:
        """What `prepare` has learned so far beside the teacher, as plain values."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there: `prepare` is called next, unless it was over."""

    def reweigher(self, setting: Setting) -> Reweigher:
        """The loop's reweigher."""
        raise NotImplementedError
