"""The features a teacher looks at: I_0..I_3, M_0, M_1 of the paper, in any combination.

A feature knows where to look (`taps`), how wide it is (`size`) and how to read itself off a `Seen`.
"""

from collections.abc import Callable, Iterable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from reweigh.errors import UsageError
from reweigh.student.batch import check_classes
from reweigh.student.seen import Seen, Tap
from reweigh.student.student import find_layer


class Feature:
    """One group of numbers per sample, (n, size)."""

    size: int
    taps: tuple[Tap, ...] = ()

    def __call__(self, seen: Seen) -> Tensor:
        """Read the feature off what was seen, (n, size)."""
        raise NotImplementedError


class InternalState(Feature):
    """I: the (pooled) input or output of a named layer.

    I_0 is the *input* of the last layer; I_1, I_2, I_3 are the pooled *outputs* of the last
    convolutions of 8×8, 16×16 and 32×32 maps.
    """

    def __init__(
        self,
        student: nn.Module,
        layer: str,
        *,
        side: str = "input",
        size: int | None = None,
        reduce: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        self.taps = (Tap(layer, side, reduce),)
        self.size = size or layer_size(student, layer, side)

    def __call__(self, seen: Seen) -> Tensor:
        """I, (n, size)."""
        state = seen.states[self.taps[0].key]  # (n, d)
        if state.shape[1] != self.size:
            raise UsageError(
                f"layer {self.taps[0].layer!r} gave {state.shape[1]} numbers per sample, but the "
                f"teacher was built for {self.size}: give size={state.shape[1]}"
            )
        return state


class LabelFeature(Feature):
    """M_0: the label, one-hot; a linear map of it is the paper's label embedding E·y."""

    def __init__(self, num_classes: int) -> None:
        self.size = num_classes

    def __call__(self, seen: Seen) -> Tensor:
        """One-hot labels, (n, C)."""
        return F.one_hot(labels_of(seen, self.size), self.size).to(seen.losses.dtype)


class Progressed(Feature):
    """What M_1 says without classes: share of iterations, mean training loss, best trusted accuracy."""

    size = 3

    def __call__(self, seen: Seen) -> Tensor:
        """The same three numbers for every sample, (n, 3)."""
        p = seen.progress
        if p.share != p.share:
            raise UsageError(
                "the M_1 features need the share of iterations done: give total_steps= to Reweigher"
            )
        like = seen.losses
        share, best = (like.new_full((), v) for v in (p.share, p.best_accuracy))
        return torch.stack([share, p.mean_loss.to(like), best]).expand(len(like), 3)


class SurfaceFeatures(Feature):
    """M_1: share of iterations, mean training loss and best trusted accuracy so far, predicted
    label (one-hot) and margin p_y − max_{j≠y} p_j, read off the logits, the output of `layer`.
    """

    def __init__(self, layer: str, num_classes: int) -> None:
        self.taps = (Tap(layer, "output"),)
        self.num_classes = num_classes
        self.progressed = Progressed()
        self.size = self.progressed.size + num_classes + 1

    def __call__(self, seen: Seen) -> Tensor:
        """Three scalars, the predicted label, the margin: (n, 3 + C + 1)."""
        logits = seen.states[self.taps[0].key]  # (n, C)
        logits = logits.to(seen.losses.dtype)
        y = labels_of(seen, self.num_classes)
        predicted = F.one_hot(logits.argmax(1), self.num_classes).to(logits.dtype)  # (n, C)
        return torch.cat([self.progressed(seen), predicted, margin(logits, y)], 1)


def margin(logits: Tensor, labels: Tensor) -> Tensor:
    """p_y − max_{j≠y} p_j, (n, 1)."""
    p = logits.softmax(1)  # (n, C)
    own = p.gather(1, labels[:, None])  # (n, 1)
    others = p.scatter(1, labels[:, None], -1.0)
    return own - others.amax(1, keepdim=True)


def labels_of(seen: Seen, num_classes: int | None = None) -> Tensor:
    """The labels, class numbers below `num_classes`, or a sentence that says how to give them."""
    if seen.labels is None:
        raise UsageError(
            "this teacher looks at labels, and which part of the batch they are is not clear: give "
            "batches (x, y), a part called 'labels', or Reweigher(labels=f), where f(batch) "
            "returns them"
        )
    return check_classes(seen.labels, num_classes)


def layer_size(student: nn.Module, layer: str, side: str) -> int:
    """How many numbers per sample a layer takes or gives, read off the layer's own attributes."""
    module = find_layer(student, layer)
    names = {
        "input": ("in_features", "in_channels", "num_features", "normalized_shape"),
        "output": (
            "out_features",
            "out_channels",
            "num_features",
            "embedding_dim",
            "hidden_size",
        ),
    }
    if side not in names:
        raise UsageError(f"side must be 'input' or 'output', not {side!r}")
    for name in names[side]:
        size = getattr(module, name, None)
        if isinstance(size, tuple | list):
            size = size[-1]
        if isinstance(size, int):
            return size
    raise UsageError(
        f"cannot tell the {side} size of layer {layer!r} ({type(module).__name__}): give size="
    )


def total_size(features: Iterable[Feature]) -> int:
    """The width of all features side by side."""
    return sum(feature.size for feature in features)


def all_taps(features: Iterable[Feature]) -> tuple[Tap, ...]:
    """Where the features look, each place once."""
    return tuple(dict.fromkeys(tap for feature in features for tap in feature.taps))


def side_by_side(features: Iterable[Feature], seen: Seen, dtype: torch.dtype) -> Tensor:
    """All features of every sample, (n, total_size), in the teacher's own precision."""
    return torch.cat([feature(seen).to(dtype) for feature in features], 1)
