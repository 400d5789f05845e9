"""`test.npz` of a finished run: what its student answered to every test sample.

Two errors on the same test samples are told apart better by the samples than by their shares.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reweigh.data.readers.arrays import read_npz
from reweigh.replacing import replacing

FILE = "test.npz"
Classes = NDArray[np.int64]


@dataclass(frozen=True)
class Answers:
    """Classes as numbers, in the order of the test set."""

    ids: NDArray[np.int64]  # (n,)
    labels: Classes  # (n,)
    last: Classes  # (n,)
    """Of the student of the last epoch."""
    best_by_trusted: Classes  # (n,)

    def save(self, folder: Path) -> None:
        """Into a run's folder, whole or not at all."""
        with replacing(folder / FILE) as beside, beside.open("wb") as file:
            np.savez_compressed(file, **vars(self))

    def asked_as(self, other: "Answers") -> bool:
        """Whether both are to the same questions."""
        return np.array_equal(self.ids, other.ids) and np.array_equal(self.labels, other.labels)

    @classmethod
    def of(cls, folder: Path) -> "Answers | None":
        """Of a finished run; None where nobody kept them."""
        return cls(**read_npz(folder / FILE)) if (folder / FILE).is_file() else None
