"""The states of all global random generators, by name, as plain values.

Our own choices (order, augmentation, trusted batches, noise) are functions of seed and position and
need no state. A student may draw by itself: dropout from torch, anything else from numpy or Python.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from reweigh.distributed.group import rank


def generator_states(device: torch.device) -> dict[str, Any]:
    """States of torch on the CPU and on `device`, of numpy and of Python."""
    name, keys, *rest = np.random.get_state()
    version, numbers, gauss = random.getstate()
    states: dict[str, Any] = {
        "torch": torch.get_rng_state(),
        "numpy": [str(name), torch.from_numpy(np.asarray(keys, np.int64)), *rest],
        "python": [version, list(numbers), gauss],
    }
    if device.type != "cpu":
        states["device"] = torch.get_device_module(device).get_rng_state(device)
    return states


def set_generator_states(states: dict[str, Any], device: torch.device) -> None:
    """Put them back."""
    torch.set_rng_state(states["torch"])
    name, keys, *rest = states["numpy"]
    np.random.set_state((name, keys.numpy().astype(np.uint32), *rest))
    version, numbers, gauss = states["python"]
    random.setstate((version, tuple(numbers), gauss))
    if device.type != "cpu":
        torch.get_device_module(device).set_rng_state(states["device"], device)


def set_seeds(seed: int, process: int) -> None:
    """Start all generators from `seed`, each process of a run from another one: dropout differs."""
    own = (seed + 1_000_003 * process) % 2**63
    torch.manual_seed(own)
    np.random.seed(own % 2**32)
    random.seed(own)


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Inside, all generators start from `seed`; afterwards they are where the caller left them."""
    before = generator_states(device)
    set_seeds(seed, rank())
    try:
        yield
    finally:
        set_generator_states(before, device)
