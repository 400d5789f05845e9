"""Sample weights of a run in several processes: kept where they arise, written by the first process."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from reweigh.distributed.group import gathered, rank
from reweigh.training.weight_store import WeightStore


class SharedWeights:
    """A `WeightStore` that is filled from all processes: once an epoch, and for a checkpoint.

    Until then each process holds the weights of its own samples, 20 bytes each, with the number of
    their step: where an epoch shows a sample twice, to two processes, the later weight counts.
    """

    def __init__(self, folder: Path, size: int) -> None:
        self.store = WeightStore(folder, size) if rank() == 0 else None
        self.is_open = False
        self._ids: list[Tensor] = []
        self._weights: list[Tensor] = []
        self._turns: list[Tensor] = []
        self._turn = 0

    def begin(self, epoch: int) -> None:
        """Open an epoch."""
        self.is_open = True
        if self.store is not None:
            self.store.begin(epoch)

    def put(self, ids: Tensor, weights: Tensor) -> None:
        """Note the weights (n,) of this process's samples `ids` (n,)."""
        self._ids.append(ids.detach())
        self._weights.append(weights.detach().float())
        self._turns.append(torch.full_like(ids, self._turn))
        self._turn += 1

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
        if not self._ids:  # then nobody has any
            return
        noted = self._ids, self._weights, self._turns
        ids, weights, turns = (gathered(torch.cat(parts)) for parts in noted)
        self._ids, self._weights, self._turns = [], [], []
        if self.store is not None:
            in_time = turns.argsort(stable=True)
            self.store.put(ids[in_time], weights[in_time])
