"""Checks that stop a run before it is ruined, naming the tensor and the samples."""

import logging
import math

import torch
from torch import Tensor, nn

from reweigh.distributed.group import gathered_objects, rank, total
from reweigh.errors import DivergedError, NonFiniteSamples, UsageError
from reweigh.student.batch import rows_not_finite
from reweigh.student.seen import Seen
from reweigh.typing import Batch, Losses, Weights

log = logging.getLogger("reweigh")


def check_loss(
    own: Tensor,
    told: list[Tensor],
    seen: Seen,
    weights: Weights | None,
    batch: Batch,
    student: nn.Module,
) -> tuple[Tensor, list[float]]:
    """Stop before the optimizer moves if the batch's loss is not finite; else the loss, (), and what is
    `told` of the batch, () each, as numbers.

    The loss is that of the whole batch, so that all processes stop, and say the same. All are read
    at once: on GPUs this is the one wait of a step, as `loss.item()` is.
    """
    loss = total(own.detach())
    value, *numbers = torch.stack([loss.to(told[0]), *told]).tolist()
    if math.isfinite(value):
        return loss, numbers
    _check_parameters(student)
    parts = ("inputs", _guilty(batch, seen.losses)), ("per-sample losses", seen.losses)
    for name, values in (*parts, ("weights", weights)):
        if values is not None:
            for complaint in gathered_objects(_non_finite(name, values.detach(), seen.ids)):
                if complaint is not None:
                    raise complaint
    raise DivergedError(f"the batch's loss is {float(loss)}: the student's objective overflowed")


def _check_parameters(student: nn.Module) -> None:
    """Say that the student was spoilt before, where it was: then the batch is not to blame."""
    for name, p in student.named_parameters():
        if not bool(torch.isfinite(p).all()):
            raise DivergedError(
                f"the student's parameter {name!r} is not finite since an earlier step, whose loss was "
                "finite and whose gradient was not: lower the learning rate, clip the gradient, or look "
                "for a square root or logarithm at 0 in the loss"
            )


def _guilty(batch: Batch, losses: Losses) -> Tensor:
    """What of the inputs is not finite, (n,), where it may have spoilt the losses of others as well:
    through batch normalisation one sample makes all of them NaN. Else 0: the losses say enough."""
    wrong = ~torch.isfinite(losses.detach())  # (n,)
    inputs = rows_not_finite(batch, len(losses)).to(losses.device).masked_fill(~wrong, 0.0)
    fewer = (~torch.isfinite(inputs)).sum() < wrong.sum()
    return inputs if bool(fewer) else torch.zeros_like(inputs)


def _non_finite(name: str, values: Tensor, ids: Tensor | None) -> NonFiniteSamples | None:
    where = (~torch.isfinite(values)).nonzero().flatten()
    if not len(where):
        return None
    kind = "ids" if ids is not None else "positions in the batch"
    samples = (ids[where] if ids is not None else where).tolist()
    return NonFiniteSamples(f"{name} hold {values[where[0]].item()}", kind, samples)


def check_weights(weights: Weights, n: int) -> None:
    """Refuse a teacher whose output is not one non-negative number per sample (asked once)."""
    if weights.shape != (n,):
        raise UsageError(
            f"the teacher returned weights of shape {tuple(weights.shape)} for {n} samples; "
            f"({n},) is needed"
        )
    if bool((weights < 0).any()):
        raise UsageError(
            f"the teacher returned a negative weight ({weights.min().item():.3g}); end it with a "
            "sigmoid, softplus or relu"
        )


class CollapseWatch:
    """Says when batches come to live on a few samples only, their effective size below `limit`·n, and
    not again until that is over."""

    def __init__(self, limit: float) -> None:
        self.limit, self.collapsed = limit, False

    def look(self, share: float) -> None:
        """At the effective size of a batch, as a share of it."""
        before, self.collapsed = self.collapsed, share < self.limit
        if self.collapsed and not before and rank() == 0:
            log.warning(
                "weights have collapsed: the effective sample size is %.1f %% of the batch "
                "(warned below %.1f %%); lower the teacher's learning rate or trust more samples",
                100 * share,
                100 * self.limit,
            )
