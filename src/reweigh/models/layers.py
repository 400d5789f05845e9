"""Where a student's internal states are: the paper's I_0 … I_3 as names of layers.

I_0 is what the last linear layer sees. I_1, I_2, I_3 are the outputs of the last convolution on
each size of map, counted from the output: 8×8, 16×16 and 32×32 for a CIFAR ResNet. Any module
can be asked: one sample is sent through it and the layers are noted as they run, so nothing has to
be declared and the order is the order of the computation, not of the constructor.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor, nn
from torch.func import functional_call

from reweigh.errors import UsageError
from reweigh.student.evaluating import evaluating

Call = tuple[str, nn.Module, tuple[int, ...]]  # name, layer, shape of its output


def internal_layers(model: nn.Module, sample: Tensor) -> dict[str, str]:
    """Name of the layer behind each of I0 … I3, as far as the model has them.

    `sample` is one input with its batch dimension, (1, …), on the model's device. I0 is read at the
    *input* of its layer, the others at the *output*. The model's mode, buffers and the random
    number generators are left as they were.
    """
    calls = _calls(model, sample)
    linear = [name for name, layer, _ in calls if isinstance(layer, nn.Linear)]
    if not linear:
        raise UsageError(
            f"{type(model).__name__} runs no nn.Linear layer, so I0 has no place; name a layer"
        )
    last_of_size = {
        shape[-2:]: name for name, layer, shape in calls if isinstance(layer, nn.Conv2d)
    }
    last_run = {name: position for position, (name, _, _) in enumerate(calls)}
    convolutions = sorted(last_of_size.values(), key=last_run.__getitem__, reverse=True)
    return {"I0": linear[-1]} | {f"I{i}": name for i, name in enumerate(convolutions[:3], start=1)}


def _calls(model: nn.Module, sample: Tensor) -> list[Call]:
    """The layers that ran for one sample, in their order."""
    calls: list[Call] = []
    with ExitStack() as stack:
        for name, layer in model.named_modules():
            if isinstance(layer, nn.Conv2d | nn.Linear):
                stack.enter_context(_noted(name, layer, calls))
        _forward_untouched(model, sample)
    return calls


@contextmanager
def _noted(name: str, layer: nn.Module, calls: list[Call]) -> Iterator[None]:
    """Append each call of `layer` to `calls` while the context lasts."""

    def note(_layer: nn.Module, _inputs: tuple[Tensor, ...], output: Tensor) -> None:
        calls.append((name, layer, tuple(output.shape)))

    handle = layer.register_forward_hook(note)
    try:
        yield
    finally:
        handle.remove()


def _forward_untouched(model: nn.Module, sample: Tensor) -> None:
    """Run the model once for its calls alone.

    It runs in evaluation mode, for BatchNorm cannot train on one sample, and on copies of its
    buffers, for a user's module may write to them in any mode.
    """
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    devices = [sample.device] if sample.device.type == "cuda" else []
    with evaluating(model), torch.no_grad(), torch.random.fork_rng(devices=devices):
        functional_call(model, buffers, (sample,))
