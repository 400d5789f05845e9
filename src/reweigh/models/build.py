"""A student by name: `resnet32`, `wrn-28-10`, `cnn`, `mlp`, or your own `module:factory`.

The same seed gives the same start on every device, and building a model draws nothing from the
caller's random numbers: weights are drawn on the CPU, from a fork of the generator.
"""

import math
import re
from typing import Any

import torch
from torch import nn

from reweigh.errors import UsageError
from reweigh.models.cnn import CNN
from reweigh.models.mlp import MLP
from reweigh.models.resnet import ResNet
from reweigh.models.wide_resnet import WideResNet
from reweigh.nearest import nearest
from reweigh.own_code import failing_as, imported

NAMES = (
    "resnet8", "resnet14", "resnet20", "resnet32", "resnet110", "wrn-28-10", "cnn", "mlp",
)  # fmt: skip

Shape = tuple[int, ...]
"""One sample as the student sees it: (channels, height, width) or (features,)."""


def build(
    name: str, problem_shape: Shape, num_classes: int, *, seed: int, **options: Any
) -> nn.Module:
    """A freshly initialised student for samples of `problem_shape`, on the CPU.

    A factory of your own is called as `factory(problem_shape, num_classes, **options)`. Built-in
    names take any depth (`resnet56`, `wrn-16-4`); `options` are `width` for `cnn` and `hidden`
    for `mlp`.

    >>> model = build("mlp", (20,), 3, seed=0, hidden=[32])
    >>> model.fc.in_features
    32
    """
    with torch.device("cpu"), torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        if ":" in name:
            return _from_factory(name, problem_shape, num_classes, options)
        return _built_in(name, problem_shape, num_classes, options)


def _built_in(
    name: str, problem_shape: Shape, num_classes: int, options: dict[str, Any]
) -> nn.Module:
    if name == "mlp":
        _refuse_unknown(name, options, {"hidden"})
        return MLP(math.prod(problem_shape), num_classes, **options)
    if name == "cnn":
        _refuse_unknown(name, options, {"width"})
        return CNN(_channels(name, problem_shape), num_classes, **options)
    if match := re.fullmatch(r"resnet([0-9]{1,4})", name):
        _refuse_unknown(name, options, set())
        return ResNet(_channels(name, problem_shape), num_classes, depth=int(match[1]))
    if match := re.fullmatch(r"wrn-([0-9]{1,4})-([0-9]{1,3})", name):
        _refuse_unknown(name, options, set())
        depth, widen = int(match[1]), int(match[2])
        return WideResNet(_channels(name, problem_shape), num_classes, depth=depth, widen=widen)
    raise UsageError(
        f"there is no model {name!r} (one of your own is named module:factory){nearest(name, NAMES)}"
    )


def _from_factory(
    name: str, problem_shape: Shape, num_classes: int, options: dict[str, Any]
) -> nn.Module:
    """Call the user's factory; whatever goes wrong inside is told with the factory's name."""
    factory = imported(name, "model", "factory")
    with failing_as(
        f"the factory {name!r}", f"factory({problem_shape}, {num_classes}, **{options})"
    ):
        model = factory(problem_shape, num_classes, **options)
    if not isinstance(model, nn.Module):
        raise UsageError(
            f"the factory {name!r} returned {type(model).__name__}, expected a torch nn.Module"
        )
    return model


def _channels(name: str, problem_shape: Shape) -> int:
    """Channels of image-shaped samples; anything else is not for a convolutional model."""
    if len(problem_shape) != 3:
        raise UsageError(
            f"the model {name!r} needs samples of shape (channels, height, width), "
            f"got {problem_shape}; use 'mlp' for tables"
        )
    return problem_shape[0]


def _refuse_unknown(name: str, options: dict[str, Any], known: set[str]) -> None:
    unknown = sorted(set(options) - known)
    if unknown:
        takes = f"takes {', '.join(sorted(known))}" if known else "takes no options"
        raise UsageError(f"the model {name!r} has no option {unknown[0]!r}; it {takes}")
