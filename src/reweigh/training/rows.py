"""Table rows resident in memory, handed out as float batches: what `Images` is for pictures."""

import numpy as np
import torch
from torch import Tensor

from reweigh.student.batch import moved_to


class Rows:
    """float32 rows (N, d) that give batches (n, d); they were standardised when they were read."""

    augmentation = None
    """Tables have none."""

    def __init__(self, inputs: np.ndarray, *, device: torch.device | str = "cpu") -> None:
        self.values = torch.tensor(inputs, dtype=torch.float32, device=device)  # (N, d)

    def __len__(self) -> int:
        return len(self.values)

    def batch(self, indices: Tensor, epoch: int = 0, *, train: bool = True) -> Tensor:
        """The rows at `indices` (n,)."""
        return self.values.index_select(0, moved_to(indices, self.values.device))
