"""The one training loop: every method, every task goes through it.

It can be left, and taken up again, between any two steps. What follows from a step (the trusted
error, the best student so far, the report) is not saved half done: it is done again.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from reweigh import signals
from reweigh.distributed.gathering import own_part_of
from reweigh.distributed.group import same_as_first
from reweigh.errors import DivergedError, InterruptedRun, NonFiniteSamples
from reweigh.models.average import averaged
from reweigh.stepping.outcome import Outcome
from reweigh.student.batch import moved_to
from reweigh.training.progress import Progress, SilentProgress, stretch
from reweigh.training.shared_weights import SharedWeights
from reweigh.training.spikes import SpikeWatch
from reweigh.training.tasks import Standing
from reweigh.training.weight_store import WeightStore
from reweigh.training.workshop import Workshop
from reweigh.typing import Batch

Best = dict[str, Tensor]


@dataclass
class EpochReport:
    """What one epoch has to tell."""

    epoch: int
    step: int
    train_loss: float
    trusted: Standing
    effective_share: float
    """Mean effective sample size of the batches, as a share of them."""
    lr: float
    train_seconds: float
    """Time of the training steps so far: of the processor, or by the clock on a GPU."""
    teacher_updates: int = 0
    """How often the teacher has learned so far."""
    rate: dict[str, float] = field(default_factory=dict)
    """Target tokens a second, of samples that are sentences."""

    def row(self) -> dict[str, float]:
        """For metrics.jsonl."""
        return {
            "epoch": self.epoch,
            "step": self.step,
            "train_loss": self.train_loss,
            f"trusted_{self.trusted.name}": self.trusted.value,
            "effective_share": self.effective_share,
            "lr": self.lr,
            "train_seconds": self.train_seconds,
            "teacher_updates": self.teacher_updates,
            **self.rate,
        }


@dataclass
class Loop:
    """Trains a workshop's student epoch by epoch; remembers the epoch best by the trusted set."""

    shop: Workshop
    weights: WeightStore | SharedWeights | None = None
    progress: Progress = field(default_factory=SilentProgress)
    tell: Callable[[EpochReport], None] = lambda report: None
    save: Callable[["Loop"], None] = lambda loop: None
    """Called at ends of epochs, and when the loop is asked to stop; always between two steps."""
    warn: Callable[[str], None] = lambda text: None
    done: int = 0
    """Steps."""
    reported: int = 0
    """Epochs."""
    losses: list[Tensor] = field(default_factory=list)
    shares: list[Tensor] = field(default_factory=list)
    """Of the steps since the last report."""
    spikes: SpikeWatch = field(default_factory=SpikeWatch)
    best_error: float = math.inf
    """Or whatever else the task measures on the trusted set."""
    best_epoch: int = -1
    best_state: Best = field(default_factory=dict)
    mean_state: Best = field(default_factory=dict)
    """The average student of the last epochs, where the task wants one."""
    seconds: float = 0.0
    pace: tuple[int, float] = (0, 0.0)
    """Tokens and seconds of the steps that this process has taken part in."""
    samples_used: Tensor = field(default_factory=lambda: torch.zeros((), dtype=torch.int64))
    """Samples that weighed anything so far, ()."""
    _current: tuple[int, list[Tensor]] = (-1, [])
    """The pass under way: its number and its batches."""

    def run(self) -> None:
        """All epochs that are left."""
        shop = self.shop
        shop.student.train()
        with stretch(
            self.progress,
            f"training, {shop.epochs} epoch{'s' * (shop.epochs > 1)}",
            shop.steps,
            self.done,
        ):
            try:
                while self.reported < shop.epochs:
                    self.tell(self.epoch(self.reported))
            except InterruptedRun:
                self.save(self)
                raise

    def epoch(self, epoch: int) -> EpochReport:
        """The steps that are left of an epoch, then how good the student is."""
        end = min((epoch + 1) * self.shop.steps_per_epoch, self.shop.steps)
        if self.done < end:
            self._steps_until(epoch, end)
        every = self.shop.config.training.checkpoint_every
        if (epoch + 1) % every == 0 or epoch + 1 == self.shop.epochs:
            self.save(self)
        same_as_first(*self.shop.student.buffers())  # running statistics are each process's own
        trusted = self.shop.task.standing()
        self._remember(epoch, trusted)
        self._average(epoch)
        return self._report(epoch, trusted)

    def _steps_until(self, epoch: int, end: int) -> None:
        if self.weights is not None and not self.weights.is_open:
            self.weights.begin(epoch)
        while self.done < end:
            signals.check()
            loss, share = self.step(self.done)
            self.losses.append(loss)
            self.shares.append(share)
            self.done += 1
        if self.weights is not None:
            self.weights.end()

    def _report(self, epoch: int, trusted: Standing) -> EpochReport:
        loss, share = torch.stack(self.losses).mean(), torch.stack(self.shares).mean()
        self.losses, self.shares, self.reported = [], [], epoch + 1
        lr = float(self.shop.optimizer.param_groups[0]["lr"])
        return EpochReport(
            epoch, self.done, loss.item(), trusted, share.item(), lr, self.seconds,
            self.shop.reweigher.clock.updates, self._rate(),
        )  # fmt: skip

    def _clock(self) -> float:
        """Processor time; by the clock on a GPU, which works while the processor goes on."""
        return time.process_time() if self.shop.device.type == "cpu" else time.perf_counter()

    def step(self, step: int) -> tuple[Tensor, Tensor]:
        """One step of the student; mean loss and effective share of its batch, both ().

        Of several processes each takes its part of the batch that one process would take.
        """
        positions, number = self._positions(step)
        own = own_part_of(positions)
        start, began = self._clock(), time.perf_counter()
        batch, ids = self.shop.task.batch(own, number), moved_to(own, self.shop.device)
        outcome = self._moved(batch, ids)
        self.shop.scheduler.step()
        self.seconds += self._clock() - start
        self.pace = (
            self.pace[0] + self.shop.task.tokens(positions),
            self.pace[1] + time.perf_counter() - began,
        )
        n = len(positions)
        if self.weights is not None:
            self.weights.put(ids, outcome.weights * n)
        self.progress.advance(1, **self._rate())
        figures = outcome.figures
        self._watch(outcome.mean_loss, positions)
        used = figures.used.to(torch.int64)
        self.samples_used = self.samples_used.to(used.device) + used
        return figures.mean_loss, figures.effective_share

    def _moved(self, batch: Batch, positions: Tensor) -> Outcome:
        """A step of the student. For methods a sample's id is its position, for people its own id."""
        try:
            return self.shop.reweigher.step(batch, ids=positions)
        except NonFiniteSamples as error:
            raise DivergedError(error.told(self.shop.task.called(error.samples))) from None

    def _rate(self) -> dict[str, float]:
        """Tokens a second, of all processes together; nothing where samples have none."""
        tokens, seconds = self.pace
        return {"tokens/s": tokens / max(seconds, 1e-9)} if tokens else {}

    def _watch(self, loss: float, positions: Tensor) -> None:
        """Say if a batch's loss leaps out, and with which samples."""
        usual = self.spikes.median_before(loss)
        if usual is not None:
            called = ", ".join(self.shop.task.called(positions.tolist()))
            self.warn(
                f"the loss of step {self.done + 1} leaps to {loss:.4g} (median of the last "
                f"steps: {usual:.4g}); samples (ids) [{called}]"
            )

    def _positions(self, step: int) -> tuple[Tensor, int]:
        """The batch of a step: its place in its pass over the training set, and the pass."""
        number, place = divmod(step, self.shop.task.steps_per_pass)
        return self._pass(number)[place], number

    def _pass(self, number: int) -> list[Tensor]:
        if self._current[0] != number:
            self._current = number, self.shop.task.batches(number)
        return self._current[1]

    def _remember(self, epoch: int, trusted: Standing) -> None:
        """Keep the student that is best by the trusted set; of equals, the earliest."""
        self.shop.reweigher.note_trusted_accuracy(trusted.accuracy)
        if trusted.value < self.best_error:
            self.best_error, self.best_epoch = trusted.value, epoch
            state = self.shop.student.state_dict()
            self.best_state = {name: value.detach().clone() for name, value in state.items()}

    def _average(self, epoch: int) -> None:
        first = max(0, self.shop.epochs - self.shop.task.averaged)
        if self.shop.task.averaged and epoch >= first:
            state = self.shop.student.state_dict()
            self.mean_state = averaged(self.mean_state, state, epoch - first + 1)

    def end_with_average(self) -> None:
        """Where students were averaged, theirs is the last word; it may be the best one, too."""
        if self.mean_state:
            self.shop.student.load_state_dict(self.mean_state)
            self._remember(self.shop.epochs - 1, self.shop.task.standing())

    def state_dict(self) -> dict[str, Any]:
        """Where the loop stands and what it has gathered, as plain values."""
        names = (
            "done",
            "reported",
            "best_error",
            "best_epoch",
            "best_state",
            "mean_state",
            "seconds",
        )
        return {name: getattr(self, name) for name in names} | {
            "losses": list(self.losses),
            "shares": list(self.shares),
            "samples_used": self.samples_used,
            "spikes": list(self.spikes.losses),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Stand where another loop stood."""
        vars(self).update(state | {"spikes": SpikeWatch(state["spikes"])})
