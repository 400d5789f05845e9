"""Averaging checkpoints: one model in the middle of several, often better than the last of them."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from reweigh.errors import CheckpointError, UsageError

State = dict[str, Tensor]


def average(states: Sequence[State | Path | str]) -> State:
    r"""$\bar\theta = \frac1m \sum_i \theta_i$ of state dicts, or of `.safetensors` files.

    Sums in float64, one file in memory at a time. What is not a float, such as a counter of
    batches, is taken from the last.
    """
    if not states:
        raise UsageError("there is nothing to average: give at least one state")
    total: State = {}
    for number, given in enumerate(states):
        state = _read(given)
        if number and _shapes(state) != _shapes(total):
            raise CheckpointError(
                f"state {number + 1} of those to average has other tensors than the first: "
                "average checkpoints of one model only"
            )
        for name, tensor in state.items():
            if not tensor.is_floating_point():
                total[name] = tensor
            else:
                total[name] = tensor.double() + total[name] if number else tensor.double()
    last = _read(states[-1])
    floats = {name for name, tensor in last.items() if tensor.is_floating_point()}
    return {
        name: (t / len(states)).to(last[name].dtype) if name in floats else t
        for name, t in total.items()
    }


def _read(given: State | Path | str) -> State:
    if isinstance(given, dict):
        return given
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(given)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(
            f"{given} cannot be read as a .safetensors file ({error}): name whole checkpoints"
        ) from error


def _shapes(state: State) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in state.items()}
