"""A pass that is refused leaves no mark: what it wrote into buffers is put back.

Batch normalisation takes a batch into its running statistics, and a teacher what it notices of it,
before anybody can see that the loss is not finite; and one NaN there stays for ever.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from reweigh.student.anatomy import Anatomy, modules_of
from reweigh.typing import Params


class WrittenBuffers:
    """Copies of the buffers that passes write into: all at first, then those that were seen to change."""

    def __init__(self, module: nn.Module) -> None:
        self.module, self._anatomy = module, Anatomy(module)
        self._written: set[str] | None = None
        self._marks: dict[str, tuple[int, int]] = {}
        self._kept: dict[str, Tensor] = {}
        self._modes: list[bool] = []
        self._followed: set[str] = set()

    @torch.no_grad()
    def keep(self) -> None:
        """Before the first pass of a step; in other modes, other buffers are written."""
        modes = [m.training for m in modules_of(self.module)]
        if modes != self._modes:
            self._modes, self._written, self._marks = modes, None, {}
            self._followed = set(statistics(self.module))
        now = self._now()
        marks = {name: (id(b), 0 if b.is_inference() else b._version) for name, b in now.items()}
        if self._marks:
            changed = {name for name, mark in marks.items() if self._marks.get(name) != mark}
            self._written = changed | (self._written or set())
        self._marks = marks
        wanted = now if self._written is None else now.keys() & (self._written | self._followed)
        self._copy({name: now[name].detach() for name in now if name in wanted})

    def _copy(self, now: Params) -> None:
        """Into the copies of the step before, where these fit: a GPU gets one order for all of a kind."""
        old = self._kept
        self._kept = {n: old[n] if _fits(old.get(n), b) else b.clone() for n, b in now.items()}
        kinds: dict[tuple[torch.dtype, torch.device], list[str]] = {}
        for name, buffer in now.items():
            if self._kept[name] is old.get(name):
                kinds.setdefault((buffer.dtype, buffer.device), []).append(name)
        for names in kinds.values():
            torch._foreach_copy_([self._kept[n] for n in names], [now[n] for n in names])  # pyright: ignore[reportPrivateImportUsage] (as torch.optim does it)

    @torch.no_grad()
    def put_back(self) -> None:
        """After a pass that does not count; a buffer of another shape by now stays as it is."""
        now = self._now()
        for name, kept in self._kept.items():
            if name in now and now[name].shape == kept.shape:
                now[name].copy_(kept)

    def _now(self) -> Params:
        places = self._anatomy.places()
        named = ((name, home[key]) for home, key, name, is_parameter in places if not is_parameter)
        return {name: held for name, held in named if held is not None}


def _fits(kept: Tensor | None, b: Tensor) -> bool:
    if kept is None or kept.is_inference():
        return False
    return (kept.shape, kept.dtype, kept.device) == (b.shape, b.dtype, b.device)


def statistics(module: nn.Module) -> Iterator[str]:
    """Running statistics of layers in training mode, which torch's kernels write without a mark."""
    for name, layer in module.named_modules():
        if isinstance(layer, nn.modules.batchnorm._NormBase) and layer.training:
            yield from (f"{name}.{buffer}".lstrip(".") for buffer, _ in layer.named_buffers())
