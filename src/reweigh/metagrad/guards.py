"""Checks around a lesson: weights that a gradient can go through, trusted samples that are sound.

What they refuse is named, before the teacher moves.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from reweigh.distributed.group import any_of, together
from reweigh.errors import DivergedError, UsageError
from reweigh.typing import Losses, Weights


def check_depends_on_parameters(weights: Weights) -> None:
    """Refuse weights that no gradient could go through, where a teacher is to learn."""
    if not weights.requires_grad:
        raise _no_graph()


def check_reaches_parameters(gradients: Sequence[Tensor | None]) -> None:
    """The same where the student's loss is differentiated by ω itself: some gradient must arrive."""
    if all(g is None for g in gradients):
        raise _no_graph()


def check_same_weights(again: Weights, before: Weights) -> None:
    """Refuse a teacher that weighs a recorded batch otherwise than when the student learned from it."""
    off = (again - before).abs() > 0.01 * (before.abs() + before.abs().mean())
    if any_of(bool((off & torch.isfinite(again)).any())):
        raise UsageError(
            "the teacher's weights of a recorded batch have changed; what forward() reads may change "
            "only in notice_trusted() and settle()"
        )


def _no_graph() -> UsageError:
    return UsageError(
        "the teacher's weights do not depend on its parameters, so it cannot learn: forward() must "
        "give them with their graph, without detach(), .data, .item(), numpy or no_grad on the way; "
        "if the teacher should not learn, set meta_learned = False"
    )


def check_meta_gradient(names: Iterable[str], values: Iterable[Tensor]) -> None:
    """Stop before the teacher moves if its gradient is not finite; one scalar is read, if all is well."""
    sound = [torch.isfinite(value).all() for value in values]
    if not sound or bool(torch.stack(sound).all()):
        return
    for name, one in zip(names, sound, strict=True):
        if not bool(one):
            raise DivergedError(
                f"the meta-gradient of the teacher's parameter {name!r} is not finite: lower the "
                "student's learning rate, use a smaller through=, clip the gradient, or look at the "
                "trusted samples"
            )


def check_trusted(losses: Losses) -> None:
    """Refuse trusted samples whose losses are not finite. Where there are processes, the meta-gradient
    of all of them is looked at instead: one that stops alone would leave the others waiting."""
    if not together() and not bool(torch.isfinite(losses).all()):
        where = (~torch.isfinite(losses)).nonzero().flatten().tolist()
        raise DivergedError(
            f"the losses of trusted samples (positions in the batch) {where[:10]} are not finite: look "
            "at these inputs, or lower the student's learning rate"
        )


@contextmanager
def in_trusted_batch() -> Iterator[None]:
    """Whatever goes wrong inside is said to have gone wrong there: the loop shows another batch."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"in the trusted batch: {error}") from None
    except (RuntimeError, ValueError, TypeError, LookupError) as error:
        error.add_note("(reweigh: in the trusted batch)")
        raise
