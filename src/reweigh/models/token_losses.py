"""The loss of a sentence pair: the mean over its words."""

import torch.nn.functional as F
from torch import Tensor

from reweigh.models.transformer import PAD
from reweigh.typing import Losses


def label_smoothed_losses(logits: Tensor, target_out: Tensor, smoothing: float) -> Losses:
    r"""$\ell = \frac1T \sum_t [(1-\epsilon)(-\log p_{t,y_t}) + \frac\epsilon V \sum_v -\log p_{t,v}]$, (n,).

    `logits` (n, t, V) and `target_out` (n, t), padded with 0: padding has no loss and counts for
    nothing in T. At most three tensors of the size of the logits live at once, all in the backward
    pass.
    """
    words = F.cross_entropy(
        logits.flatten(0, 1), target_out.flatten(),
        ignore_index=PAD, label_smoothing=smoothing, reduction="none",
    ).view_as(target_out)  # fmt: skip  # (n, t)
    return words.sum(1) / (target_out != PAD).sum(1).clamp_min(1)
