"""Averaging of checkpoints."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from reweigh.errors import CheckpointError, UsageError
from reweigh.models.average import average


def state(value: float, steps: int = 1) -> dict[str, torch.Tensor]:
    return {"w": torch.full((2,), value), "steps": torch.tensor(steps)}


def test_floats_are_averaged_and_counters_are_the_last() -> None:
    found = average([state(1.0, 5), state(2.0, 6), state(6.0, 7)])
    assert found["w"].tolist() == [3.0, 3.0]
    assert found["w"].dtype == torch.float32
    assert found["steps"].item() == 7


def test_files_as_well(tmp_path: Path) -> None:
    for value in (1.0, 2.0):
        save_file(state(value), tmp_path / f"{value}.safetensors")
    assert average(sorted(tmp_path.iterdir()))["w"].tolist() == [1.5, 1.5]


def test_other_shapes_and_damaged_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="state 2"):
        average([state(1.0), {"w": torch.zeros(3), "steps": torch.tensor(1)}])
    (tmp_path / "half.safetensors").write_bytes(b"half")
    with pytest.raises(CheckpointError, match="half"):
        average([tmp_path / "half.safetensors"])
    with pytest.raises(UsageError, match="nothing"):
        average([])
