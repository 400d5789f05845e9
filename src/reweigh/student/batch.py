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
        names = getattr(batch, "_fields", range(len(batch)))  # a named tuple has names
        yield from ((str(name), part) for name, part in zip(names, batch, strict=True))


def tensors(batch: Batch) -> Iterator[Tensor]:
    """Every tensor inside a batch, depth first."""
    if isinstance(batch, Tensor):
        yield batch
    for _, part in named_parts(batch):
        yield from tensors(part)


def rows_not_finite(batch: Batch, n: int) -> Tensor:
    """What is not finite among the inputs of each of n samples, else 0, (n,)."""
    strange = torch.zeros(n, device="cpu")
    for t in tensors(batch):
        if t.is_floating_point() and t.ndim > 0 and len(t) == n:
            rows = t.detach().reshape(n, -1)
            strange = strange + rows.masked_fill(torch.isfinite(rows), 0.0).sum(1).float().cpu()
    return strange


def moved_to(batch: Any, device: torch.device) -> Any:
    """The same batch with its tensors on `device`; containers keep their kind."""
    ahead = device.type != "cpu"  # what goes to the CPU is read at once, and has to have arrived
    return mapped(batch, lambda tensor: tensor.to(device, non_blocking=ahead))


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
    """The labels of a batch: y of (x, y) or (x, y, trusted), or the member called like a label.

    None where it is not clear: with more members the second may be anything.
    """
    if isinstance(batch, tuple | list) and not hasattr(batch, "_fields"):
        clear = len(batch) == 2 or find_trusted(batch) is not None
        return batch[1] if clear and isinstance(batch[1], Tensor) else None
    parts = dict(named_parts(batch))
    found = (parts[name] for name in LABEL_NAMES if isinstance(parts.get(name), Tensor))
    return next(found, None)


def as_numbers(labels: Any) -> Any:
    """The same labels; whole numbers of any type as torch indexes by them, int64."""
    if isinstance(labels, Tensor) and not labels.is_floating_point():
        return labels.long()
    return labels


def find_trusted(batch: Batch) -> Tensor | None:
    """Which samples are trusted, (n,) bool: the third of (x, y, trusted), or the member `trusted`.

    None where the batch does not say.
    """
    if isinstance(batch, tuple | list) and not hasattr(batch, "_fields"):
        told = batch[2] if len(batch) == 3 else None
    else:
        told = dict(named_parts(batch)).get("trusted")
    says = isinstance(told, Tensor) and told.dtype == torch.bool and told.ndim == 1
    return told if says else None


def check_num_classes(n: int) -> int:
    """The number itself, of a teacher that tells classes apart."""
    if n < 2:
        raise UsageError(f"num_classes must be at least 2, not {n}")
    return n


def check_classes(labels: Tensor, num_classes: int | None = None) -> Tensor:
    """Refuse labels that are not class numbers. Their range is looked at where that is free."""
    if labels.is_floating_point() or labels.ndim != 1:
        raise UsageError(
            f"labels are class numbers, one whole number a sample, but these are {labels.dtype} of "
            f"shape {tuple(labels.shape)}: for other targets take a teacher that does not look at "
            "them, such as LossMarginTeacher()"
        )
    if num_classes is not None and labels.device.type == "cpu" and len(labels):
        refuse_strange(labels, num_classes)
    return labels.long()


def refuse_empty(batch: Batch) -> int:
    """The number of samples, if there are any."""
    n = batch_length(batch)
    if not n:
        raise UsageError("the batch is empty: leave it out, or give the loader drop_last=True")
    return n


def refuse_strange(labels: Tensor, num_classes: int) -> None:
    """Refuse a class that does not exist; on a GPU this waits for the labels."""
    low, high = int(labels.min()), int(labels.max())
    if low < 0 or high >= num_classes:
        wrong = low if low < 0 else high
        where = (labels == wrong).nonzero().flatten().tolist()
        raise UsageError(
            f"label {wrong} is not one of 0 … {num_classes - 1} (sample {where[0]} of the batch): drop "
            "that sample, or give the right num_classes"
        )


def cross_entropy(student: nn.Module, batch: Batch) -> Losses:
    """The default per-sample loss: cross-entropy of `student(x)` for batches `(x, y)`."""
    way_out = "per_sample_loss=f, where f(student, batch) returns one loss per sample"
    if not isinstance(batch, tuple | list) or len(batch) != 2:
        of = f" of {len(batch)}" if isinstance(batch, tuple | list) else ""
        raise UsageError(
            f"the default loss takes batches (x, y), but got a {type(batch).__name__}{of}: give "
            f"{way_out}"
        )
    x, y = batch
    logits = _a_tensor(student(x), way_out)
    if isinstance(y, Tensor) and y.is_floating_point() and y.shape != logits.shape:
        raise UsageError(
            f"the default loss is cross-entropy of class numbers, but y is {y.dtype} of shape "
            f"{tuple(y.shape)}: give y.long() if these are classes, else {way_out}"
        )
    if isinstance(y, Tensor) and not y.is_floating_point() and logits.ndim == 2:
        y = check_classes(y, logits.shape[1]).long()
    return F.cross_entropy(logits, y, reduction="none")


def outputs(student: nn.Module, batch: Batch) -> Tensor:
    """The student's answer to batches `(x, y, …)`."""
    way_out = "the teacher logits=f, where f(student, batch) returns (n, num_classes)"
    if not isinstance(batch, tuple | list):
        raise UsageError(
            f"logits are taken from batches (x, y), but got a {type(batch).__name__}: give {way_out}, "
            "and Reweigher per_sample_loss=g, which trusted batches are measured by"
        )
    return _a_tensor(student(batch[0]), way_out)


def answered(answer: Any) -> Any:
    """What a student answered; of an answer that holds more (Hugging Face's), its `logits`."""
    return answer if isinstance(answer, Tensor) else getattr(answer, "logits", answer)


def _a_tensor(answer: Any, way_out: str) -> Tensor:
    answer = answered(answer)
    if not isinstance(answer, Tensor):
        raise UsageError(
            f"the student answers with a {type(answer).__name__}, not with a tensor of logits: give "
            f"{way_out}"
        )
    return answer


def check_losses(losses: object, batch: Batch) -> Losses:
    """Refuse a loss that is reduced, or of which no part of the batch has the length."""
    n = refuse_empty(batch)
    if not isinstance(losses, Tensor):
        raise UsageError(
            f"per_sample_loss returned a {type(losses).__name__}, but a tensor of {n} losses, "
            "one per sample, is needed"
        )
    lengths = {n} | {tensor.shape[0] for tensor in tensors(batch) if tensor.ndim > 0}
    if losses.ndim != 1 or len(losses) not in lengths:  # inputs may be (t, n, d) and labels (n,)
        raise UsageError(
            f"per_sample_loss returned a tensor of shape {tuple(losses.shape)} for a batch of {n} "
            f'samples, but shape ({n},) is needed: use reduction="none" and reduce every '
            "dimension except the first (for sequences, take the mean over the tokens)"
        )
    return losses
