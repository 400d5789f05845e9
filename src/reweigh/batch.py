"""What a batch is: its tensors, its length, its labels, whatever container it comes in."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from copy import copy
from dataclasses import fields, is_dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from reweigh.errors import UsageError
from reweigh.typing import Batch, Losses

LABEL_NAMES = ("labels", "label", "y", "target", "targets")


def named_parts(batch: Batch) -> Iterator[tuple[str, Any]]:
    """The direct members of a batch with their names (positions for sequences)."""
    if isinstance(batch, Mapping):
        yield from ((str(name), part) for name, part in batch.items())
    elif is_dataclass(batch):
        yield from ((field.name, getattr(batch, field.name)) for field in fields(batch))
    elif isinstance(batch, tuple | list):
        yield from ((str(position), part) for position, part in enumerate(batch))


def tensors(batch: Batch) -> Iterator[Tensor]:
    """Every tensor inside a batch, depth first."""
    if isinstance(batch, Tensor):
        yield batch
    for _, part in named_parts(batch):
        yield from tensors(part)


def moved_to(batch: Any, device: torch.device) -> Any:
    """The same batch with its tensors on `device`; containers keep their kind."""
    return mapped(batch, lambda tensor: tensor.to(device, non_blocking=True))


def mapped(batch: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """The same batch with every tensor changed; containers keep their kind."""
    if isinstance(batch, Tensor):
        return change(batch)
    if isinstance(batch, MutableMapping) and not isinstance(batch, dict):
        same = copy(batch)  # a tokenizer's encoding, say, which is more than a dict
        same.update({name: mapped(part, change) for name, part in batch.items()})
        return same
    if isinstance(batch, Mapping):
        return {name: mapped(part, change) for name, part in batch.items()}
    if is_dataclass(batch) and not isinstance(batch, type):
        return replace(batch, **{n: mapped(part, change) for n, part in named_parts(batch)})
    if isinstance(batch, tuple | list):
        parts = [mapped(part, change) for part in batch]
        if hasattr(batch, "_fields"):  # a named tuple
            return type(batch)(*parts)
        return tuple(parts) if isinstance(batch, tuple) else parts
    return batch


def batch_length(batch: Batch) -> int:
    """The number of samples: the first dimension of the first tensor that has one."""
    for tensor in tensors(batch):
        if tensor.ndim > 0:
            return tensor.shape[0]
    raise UsageError(
        f"no tensor with a batch dimension was found in a batch of type {type(batch).__name__}: "
        "give batches as tensors, or as tuples, dicts or dataclasses of tensors"
    )


def find_labels(batch: Batch) -> Tensor | None:
    """The labels of a batch: the second of a tuple, or the member called like a label."""
    if isinstance(batch, tuple | list):
        return batch[1] if len(batch) > 1 and isinstance(batch[1], Tensor) else None
    parts = dict(named_parts(batch))
    found = (parts[name] for name in LABEL_NAMES if isinstance(parts.get(name), Tensor))
    return next(found, None)


def cross_entropy(student: nn.Module, batch: Batch) -> Losses:
    """The default per-sample loss: cross-entropy of `student(x)` for batches `(x, y)`."""
    if not isinstance(batch, tuple | list) or len(batch) != 2:
        raise UsageError(
            f"the default loss takes batches (x, y), but got a {type(batch).__name__}: "
            "give per_sample_loss=f, where f(student, batch) returns one loss per sample"
        )
    x, y = batch
    return F.cross_entropy(student(x), y, reduction="none")


def outputs(student: nn.Module, batch: Batch) -> Tensor:
    """The student's answer to batches `(x, y, …)`."""
    if not isinstance(batch, tuple | list):
        raise UsageError(
            f"logits are taken from batches (x, y), but got a {type(batch).__name__}: give the "
            "teacher logits=f, where f(student, batch) returns (n, num_classes)"
        )
    return student(batch[0])


def check_losses(losses: object, batch: Batch) -> Losses:
    """Refuse a loss that is reduced or not of the batch's length."""
    n = batch_length(batch)
    if not isinstance(losses, Tensor):
        raise UsageError(
            f"per_sample_loss returned a {type(losses).__name__}, but a tensor of {n} losses, "
            "one per sample, is needed"
        )
    if losses.shape != (n,):
        raise UsageError(
            f"per_sample_loss returned a tensor of shape {tuple(losses.shape)} for a batch of {n} "
            f'samples, but shape ({n},) is needed: use reduction="none" and reduce every '
            "dimension except the first (for sequences, take the mean over the tokens)"
        )
    return losses
