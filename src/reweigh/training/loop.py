"""The one training loop: every method, every task goes through it."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from reweigh.training.evaluate import error
from reweigh.training.pool import order, split
from reweigh.training.progress import Progress, SilentProgress, stretch
from reweigh.training.weight_store import WeightStore
from reweigh.training.workshop import Workshop

Best = dict[str, Tensor]


@dataclass
class EpochReport:
    """What one epoch has to tell; the trusted error is the only thing a choice may rest on."""

    epoch: int
    step: int
    train_loss: float
    trusted_error: float
    effective_share: float
    """Mean effective sample size of the batches, as a share of them."""
    lr: float
    train_seconds: float
    """Processor time of the training steps so far."""

    def row(self) -> dict[str, float]:
        """For metrics.jsonl."""
        return dict(vars(self))


@dataclass
class Loop:
    """Trains a workshop's student epoch by epoch; remembers the epoch best by the trusted set."""

    shop: Workshop
    weights: WeightStore | None = None
    progress: Progress = field(default_factory=SilentProgress)
    tell: Callable[[EpochReport], None] = lambda report: None
    best_error: float = math.inf
    best_epoch: int = -1
    best_state: Best = field(default_factory=dict)
    seconds: float = 0.0
    samples_used: Tensor = field(default_factory=lambda: torch.zeros((), dtype=torch.int64))
    """Samples that weighed anything so far, ()."""

    def run(self) -> None:
        """All epochs."""
        shop = self.shop
        shop.student.train()
        epochs = shop.config.training.epochs
        with stretch(self.progress, f"training, {epochs} epochs", shop.steps):
            for epoch in range(epochs):
                self.tell(self.epoch(epoch))

    def epoch(self, epoch: int) -> EpochReport:
        """One epoch of steps, then the trusted error."""
        losses, shares = [], []
        if self.weights is not None:
            self.weights.begin(epoch)
        for step in range(
            epoch * self.shop.steps_per_epoch, (epoch + 1) * self.shop.steps_per_epoch
        ):
            loss, share = self.step(step)
            losses.append(loss)
            shares.append(share)
        if self.weights is not None:
            self.weights.end()
        trusted = error(self.shop.student, self.shop.trusted, self.shop.forward)
        self._remember(epoch, trusted)
        mean_loss, mean_share = torch.stack(losses).mean(), torch.stack(shares).mean()
        lr = self.shop.optimizer.param_groups[0]["lr"]
        done = (epoch + 1) * self.shop.steps_per_epoch
        return EpochReport(
            epoch, done, mean_loss.item(), trusted, mean_share.item(), float(lr), self.seconds
        )

    def step(self, step: int) -> tuple[Tensor, Tensor]:
        """One step of the student; mean loss and effective share of its batch, both ()."""
        positions, number = self._positions(step)
        start = time.process_time()
        x, y = self.shop.train.batch(positions, number, train=True)
        ids = positions.to(y.device)
        outcome = self.shop.reweigher.step(x, y, ids=ids)
        self.shop.scheduler.step()
        self.seconds += time.process_time() - start
        n = len(positions)
        if self.weights is not None:
            self.weights.put(ids, outcome.weights * n)
        self.progress.advance()
        w = outcome.weights
        self.samples_used = self.samples_used.to(w.device) + (w > 0).sum()
        return outcome.losses.mean(), w.sum().square() / (n * w.square().sum()).clamp_min(1e-38)

    def _positions(self, step: int) -> tuple[Tensor, int]:
        """The batch of a step: its place in its pass over the training set, and the pass."""
        number, place = divmod(step, self.shop.passes)
        return self._pass(number)[place], number

    def _pass(self, number: int) -> list[Tensor]:
        if getattr(self, "_current", None) is None or self._current[0] != number:
            positions = order(len(self.shop.train), self.shop.seed, "train", number)
            self._current = number, split(positions, self.shop.config.training.batch_size)
        return self._current[1]

    def _remember(self, epoch: int, trusted_error: float) -> None:
        """Keep the student that is best by the trusted set; of equals, the earliest."""
        self.shop.reweigher.note_trusted_accuracy(1 - trusted_error)
        if trusted_error < self.best_error:
            self.best_error, self.best_epoch = trusted_error, epoch
            state = self.shop.student.state_dict()
            self.best_state = {name: value.detach().clone() for name, value in state.items()}
