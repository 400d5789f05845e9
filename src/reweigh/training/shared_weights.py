"""Sample weights of a run in several processes: kept where they arise, written by the first process."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from reweigh.distributed.group import gathered, rank
from reweigh.training.weight_store import WeightStore


class SharedWeights:
    """A `WeightStore` that is filled from all processes: once an epoch, and for a checkpoint.

    Until then each process holds the weights of its own samples: 12 bytes each.
    """

    def __init__(self, folder: Path, size: int) -> None:
        self.store = WeightStore(folder, size) if rank() == 0 else None
        self.is_open = False
        self._ids: list[Tensor] = []
        self._weights: list[Tensor] = []

    def begin(self, epoch: int) -> None:
        """Open an epoch."""
        self.is_open = True
        if self.store is not None:
            self.store.begin(epoch)

    def put(self, ids: Tensor, weights: Tensor) -> None:
        """Note the weights (n,) of this process's samples `ids` (n,)."""
        self._ids.append(ids.detach())
        self._weights.append(weights.detach())

    def end(self) -> None:
        """Close the epoch: the first process writes what all have noted."""
        self._bring_together()
        self.is_open = False
        if self.store is not None:
            self.store.end()

    def state_dict(self) -> dict[str, Any]:
        """The epoch under way, with what all processes have noted so far."""
        if self.is_open:
            self._bring_together()
        return {"epoch": None, "values": None} if self.store is None else self.store.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on in the epoch that was under way."""
        self.is_open = state["epoch"] is not None
        if self.store is not None:
            self.store.load_state_dict(state)

    def _bring_together(self) -> None:
        ids = gathered(torch.cat(self._ids) if self._ids else torch.zeros(0, dtype=torch.int64))
        own = torch.cat(self._weights) if self._weights else torch.zeros(0)
        weights = gathered(own.float())
        self._ids, self._weights = [], []
        if self.store is not None and len(ids):
            self.store.put(ids, weights)
