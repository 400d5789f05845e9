"""Everything besides θ and the batch that decides what a forward pass computes.

A replay must see the same dropout masks, buffers, train/eval modes and autocast as the step that it
repeats, and must leave all of them as it found them. A `Moment` is that circumstance, captured.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from reweigh.student.anatomy import held_by, modules_of
from reweigh.typing import Params


def _devices(module: nn.Module) -> list[torch.device]:
    found = {held.device for _, _, held in held_by(module)} | {torch.device("cpu")}
    return sorted((device for device in found if device.type != "meta"), key=str)


def _rng_state(device: torch.device) -> Tensor:
    if device.type == "cpu":
        return torch.get_rng_state()
    return torch.get_device_module(device).get_rng_state(device)


def _set_rng_state(device: torch.device, state: Tensor) -> None:
    if device.type == "cpu":
        torch.set_rng_state(state.cpu())
    else:
        torch.get_device_module(device).set_rng_state(state.cpu(), device)


def rng_states(module: nn.Module) -> dict[str, Tensor]:
    """Where torch's generators stand, of the module's devices and of the CPU."""
    return {str(device): _rng_state(device) for device in _devices(module)}


@contextmanager
def rng_unmoved(module: nn.Module) -> Iterator[None]:
    """Random numbers drawn inside leave the generators of the module's devices as they were."""
    before = rng_states(module)
    try:
        yield
    finally:
        for device, state in before.items():
            _set_rng_state(torch.device(device), state)


@contextmanager
def _modes(module: nn.Module, training: tuple[bool, ...]) -> Iterator[None]:
    """Give every submodule a train/eval flag of its own, and take it back."""
    modules = modules_of(module)
    before = tuple(m.training for m in modules)
    try:
        for m, flag in zip(modules, training, strict=True):
            m.training = flag
        yield
    finally:
        for m, flag in zip(modules, before, strict=True):
            m.training = flag


@dataclass(frozen=True)
class Moment:
    """Generators, buffers, modes and autocast of a module at one point in time."""

    rng: dict[str, Tensor]
    buffers: Params
    training: tuple[bool, ...]
    autocast: tuple[str, bool, torch.dtype]

    @classmethod
    def now(cls, module: nn.Module) -> "Moment":
        """Capture the present. Costs one copy of the buffers and of the generators' states."""
        devices = _devices(module)
        kind = devices[-1].type
        return cls(
            rng=rng_states(module),
            buffers={name: b.detach().clone() for name, b in module.named_buffers()},
            training=tuple(m.training for m in modules_of(module)),
            autocast=(kind, torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)),
        )

    def is_coarse(self, tensors: Iterable[Tensor]) -> bool:
        """Whether numbers of 16 bits take part: under autocast, or among these tensors."""
        return self.autocast[1] or any(t.dtype.itemsize < 4 for t in tensors)

    @property
    def in_float16(self) -> bool:
        """Whether autocast computes in float16, where small numbers vanish."""
        return self.autocast[1] and self.autocast[2] == torch.float16

    def fresh_buffers(self) -> Params:
        """Copies that a replay may write to: a BatchNorm's update lands there and is dropped."""
        return {name: buffer.clone() for name, buffer in self.buffers.items()}

    @contextmanager
    def again(self, module: nn.Module) -> Iterator[None]:
        """Be back in that moment, and afterwards leave no trace of having been."""
        kind, enabled, dtype = self.autocast
        with (
            rng_unmoved(module),
            _modes(module, self.training),
            torch.autocast(kind, dtype=dtype, enabled=enabled),
        ):
            # by their order, not their names: a checkpoint of one GPU may be loaded on another
            for device, state in zip(_devices(module), self.rng.values(), strict=False):
                _set_rng_state(device, state)
            yield
