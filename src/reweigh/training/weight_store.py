"""The weight of every sample in every epoch, on disk, at a cost per step that ignores their number.

One float32 `.npy` file an epoch, memory-mapped and written batch by batch at the samples' own
positions: N samples cost 4N bytes of mapped pages, which the system may write out and reuse, and a
step touches only its batch. NaN means "not seen in this epoch". An epoch's file carries the suffix
`.part` until it is synced and renamed: what is named `.npy` is whole.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.lib.format import open_memmap, write_array_header_1_0
from numpy.typing import NDArray
from torch import Tensor

from reweigh.errors import DataError
from reweigh.replacing import sync_folder

CHUNK = 1 << 20  # samples held in memory while all of them are written
_PENDING = 64  # batches gathered on their device before one transfer


class WeightStore:
    """Writes and reads the weights (epochs, N) of one run."""

    def __init__(self, folder: Path, size: int) -> None:
        self.folder, self.size = folder, size
        self._epoch: int | None = None
        self._map: np.memmap | None = None
        self._pending: list[tuple[Tensor, Tensor]] = []
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def is_open(self) -> bool:
        """Whether an epoch is being written."""
        return self._map is not None

    def begin(self, epoch: int) -> None:
        """Open an epoch for writing, with no sample seen yet."""
        self._pending.clear()
        _write_unseen(self._part(epoch), self.size)
        self._map = open_memmap(self._part(epoch), mode="r+")
        self._epoch = epoch

    def state_dict(self) -> dict[str, Any]:
        """The epoch under way, if there is one, with its weights so far: 4N bytes."""
        self.flush()
        values = None if self._map is None else torch.from_numpy(np.array(self._map))
        return {"epoch": self._epoch, "values": values}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on in the epoch that was under way; whatever the files of it hold is replaced."""
        if state["epoch"] is None or state["values"] is None:
            return
        self.begin(state["epoch"])
        self.put(torch.arange(self.size), state["values"])
        self.flush()

    def put(self, ids: Tensor, weights: Tensor) -> None:
        """Note the weights (n,) of the samples `ids` (n,), from any device; O(n).

        The tensors are kept until the next flush, so that a GPU is waited for once in 64 steps:
        do not write into them afterwards.
        """
        if self._map is None:
            raise RuntimeError("put() needs an open epoch: call begin(epoch) first")
        self._pending.append((ids.detach(), weights.detach()))
        if len(self._pending) >= _PENDING:
            self.flush()

    def flush(self) -> None:
        """Write what is pending into the open epoch: before a checkpoint, and at its end."""
        if not self._pending or self._map is None:
            return
        ids = torch.cat([i for i, _ in self._pending]).cpu().numpy()  # (m,)
        weights = torch.cat([w for _, w in self._pending]).float().cpu().numpy()  # (m,)
        self._pending.clear()
        if ids.min() < 0 or ids.max() >= self.size:
            raise DataError(
                f"Sample ids {ids.min()}..{ids.max()} do not fit a store of {self.size} samples; "
                "ids are positions in the training set."
            )
        self._map[ids] = weights

    def end(self) -> None:
        """Close the epoch: on return its file is on the disk under its final name."""
        self.flush()
        if self._map is None or self._epoch is None:
            raise RuntimeError("end() needs an open epoch: call begin(epoch) first")
        self._map.flush()  # msync: the data of a mapping is on the disk when it returns
        os.replace(self._part(self._epoch), self._file(self._epoch))
        sync_folder(self.folder)
        self._map = self._epoch = None

    def epochs(self) -> list[int]:
        """The epochs that are complete, in order."""
        return sorted(int(file.stem.split("_")[1]) for file in self.folder.glob("epoch_*.npy"))

    def epoch(self, epoch: int) -> NDArray[np.float32]:
        """The weights (N,) of one epoch, read from disk only where they are looked at."""
        return _mapped(self._file(epoch), self.size)

    def _file(self, epoch: int) -> Path:
        return self.folder / f"epoch_{epoch:05d}.npy"

    def _part(self, epoch: int) -> Path:
        return self._file(epoch).with_suffix(".npy.part")


def _write_unseen(file: Path, size: int) -> None:
    """NaN for every sample, written and not mapped: a full disk is an error here, where a page of a
    mapping that finds no room kills the process.
    """
    with file.open("wb") as stream:
        write_array_header_1_0(stream, {"descr": "<f4", "fortran_order": False, "shape": (size,)})
        for start in range(0, size, CHUNK):
            stream.write(np.full(min(CHUNK, size - start), np.nan, "<f4").tobytes())


def _mapped(file: Path, size: int) -> np.memmap:
    try:
        weights = open_memmap(file, mode="r")
    except (OSError, ValueError) as error:
        raise DataError(f"Cannot read the sample weights {file}: {error}.") from None
    if weights.shape != (size,) or weights.dtype != np.float32:
        raise DataError(f"{file} holds {weights.dtype} {weights.shape}, not float32 ({size},).")
    return weights
