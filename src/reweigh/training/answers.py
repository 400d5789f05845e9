"""`test.npz` of a finished run: what its student answered to every test sample.

Two errors on the same test samples are told apart better by the samples than by their shares.
"""

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reweigh.data.readers.arrays import read_npz
from reweigh.errors import DataError
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
        if not (folder / FILE).is_file():
            return None
        kept, names = read_npz(folder / FILE), [field.name for field in fields(cls)]
        if kept.keys() != set(names):
            raise DataError(
                f"{folder / FILE} does not hold {', '.join(names)} and nothing else: restore it, or "
                "take it away."
            )
        return cls(**kept)
