"""What a mentor is taught from: a curriculum defined beforehand, or the trusted set."""

from collections.abc import Callable

import torch
from torch import Generator, Tensor, nn

from reweigh.teachers.mentor import EPOCHS, Lesson

Predict = Callable[[int], tuple[Tensor, Tensor]]
"""Number of a trusted batch → the student's log-probabilities (m, K) for it, and its labels (m,)."""


class MentorLessons(nn.Module):
    """Where lessons come from; what was collected is part of the teacher's state."""

    def collect(self, step: int, bar: Tensor) -> None:
        """Called at every step of burn-in, with the bar λ that losses are held against, ()."""

    def draw(self, n: int, epoch: int, generator: Generator) -> Lesson:
        """n examples for a mentor that will be asked up to `epoch`."""
        raise NotImplementedError


class PredefinedLessons(MentorLessons):
    """Synthetic losses under MentorNet's predefined curriculum (PD).

    Losses of 0 … 10 (and one in six of 10 … 30), excesses of −5 … 5 and epochs of 0 … 99, drawn
    independently: the ranges of the published grid.
    """

    def draw(self, n: int, epoch: int, generator: Generator) -> Lesson:
        """Losses, excesses and epochs with the weights that the curriculum gives them."""
        u = torch.rand(3, n, generator=generator, device=generator.device)
        losses = torch.where(u[0] < 5 / 6, 12 * u[0], 120 * u[0] - 90)
        excesses, epochs = 10 * u[1] - 5, (EPOCHS * u[2]).long()
        return losses, excesses, epochs, predefined_weights(excesses, epochs)


def predefined_weights(excesses: Tensor, epochs: Tensor) -> Tensor:
    """1 up to epoch 18; then 1[ℓ ≤ λ] (self-paced); from 90 on clip(1 − (ℓ − λ), 0, 1), (n,)."""
    paced = (excesses <= 0).float()
    linear = (1 - excesses).clamp(0, 1)
    later = torch.where(epochs < 90, paced, linear)
    return torch.where(epochs <= 18, torch.ones_like(later), later)


class TrustedLessons(MentorLessons):
    r"""Trusted samples under labels that the student itself would give them (DD).

    The published DD mentor learns $1[\tilde y = y]$ from samples of which both the noisy label and
    the true one are known. Trusted samples have no noisy label, so we plant one: a student trained
    on noisy labels predicts how they are distributed, and $\tilde y \sim p(\cdot \mid x; \theta)$
    is a draw from that. Neither the kind nor the rate of the noise has to be known, and no true
    label of the training set is looked at. The loss of such a copy is $-\log p_{\tilde y}$ in the
    student's present mode; copies are never trained on.

    Predictions are collected in the second half of burn-in, at up to `MOMENTS` steps, one forward
    pass each; before that a student knows too little of the labels. All our choices.
    """

    MOMENTS = 32

    def __init__(self, predict: Predict, *, begins: int, size: int, num_classes: int) -> None:
        super().__init__()
        self.predict = predict
        first, count = begins // 2, min(self.MOMENTS, begins - begins // 2)
        self.moments = [first + i * (begins - first) // count for i in range(count)]
        self.register_buffer("log_p", torch.zeros(count, size, num_classes))
        self.register_buffer("labels", torch.zeros(count, size, dtype=torch.int64))
        self.register_buffer("bars", torch.zeros(count))
        self.log_p: Tensor
        self.labels: Tensor
        self.bars: Tensor

    def collect(self, step: int, bar: Tensor) -> None:
        """Note what the student makes of a trusted batch, if this is one of the moments."""
        if step not in self.moments:
            return
        i = self.moments.index(step)
        self.log_p[i], self.labels[i] = self.predict(i)
        self.bars[i] = bar

    def draw(self, n: int, epoch: int, generator: Generator) -> Lesson:
        """Trusted samples with a label drawn from a prediction; the weight: is it the true one?"""
        moments, size, _ = self.log_p.shape
        device = self.log_p.device
        i = torch.randint(moments, (n,), generator=generator, device=device)
        j = torch.randint(size, (n,), generator=generator, device=device)
        log_p = self.log_p[i, j]  # (n, K)
        planted = torch.multinomial(log_p.exp(), 1, generator=generator)  # (n, 1)
        losses = -log_p.gather(1, planted).squeeze(1)
        right = (planted.squeeze(1) == self.labels[i, j]).float()
        return losses, losses - self.bars[i], torch.full_like(i, epoch), right
