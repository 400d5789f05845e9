"""MentorNet's network: from a sample's loss and the time of training to its weight."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

EPOCHS = 100
"""Time is the percentage of the run that is over, 0 … 99, however many epochs it has."""

Lesson = tuple[Tensor, Tensor, Tensor, Tensor]
"""Losses, excesses, epochs (int64) and the weights to be given, each (n,)."""


class Mentor(nn.Module):
    """Two LSTM cells (one each way) of one unit over one step, two embeddings, tanh 20, one logit.

    The features are those of the published code: the loss, its excess over a moving average, the
    percentage of the run (an embedding of 5 that is not trained), and a label that is always 0
    (an embedding of 2). Its weights are drawn as torch draws them, not as TensorFlow does.
    """

    def __init__(self) -> None:
        super().__init__()
        self.cells = nn.ModuleList(nn.LSTMCell(2, 1) for _ in range(2))
        self.label = nn.Embedding(2, 2)
        self.epoch = nn.Embedding(EPOCHS, 5)
        self.epoch.weight.requires_grad_(False)
        self.hidden = nn.Linear(2 + 2 + 5, 20)
        self.out = nn.Linear(20, 1)

    def forward(self, losses: Tensor, excesses: Tensor, epochs: Tensor) -> Tensor:
        """Logits of the weights, (n,)."""
        both = torch.stack([losses, excesses], dim=1)  # (n, 2)
        states = [cell(both)[0] for cell in self.cells]  # two of (n, 1)
        label = self.label(torch.zeros_like(epochs))  # (n, 2)
        features = torch.cat([label, self.epoch(epochs), *states], dim=1)  # (n, 9)
        return self.out(self.hidden(features).tanh()).squeeze(1)


def educate(mentor: Mentor, lesson: Callable[[], Lesson], *, steps: int, lr: float) -> None:
    """Teach the mentor to give the weights of `steps` lessons.

    Adam, the rate falling by 0.9 in thirty stairs, the gradient clipped at 5: the published
    training, whatever the number of steps. Cross-entropy is the loss for all targets; the published
    code takes squares where they are not 0 or 1, which has the same minimum.
    """
    learned = [p for p in mentor.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(learned, lr=lr)
    stairs = torch.optim.lr_scheduler.StepLR(optimizer, max(1, steps // 30), gamma=0.9)
    for _ in range(steps):
        losses, excesses, epochs, targets = lesson()
        logits = mentor(losses, excesses, epochs)
        optimizer.zero_grad(set_to_none=True)
        F.binary_cross_entropy_with_logits(logits, targets).backward()
        nn.utils.clip_grad_norm_(learned, 5.0)
        optimizer.step()
        stairs.step()
    optimizer.zero_grad(set_to_none=True)
