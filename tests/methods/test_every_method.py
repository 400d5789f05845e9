"""One list, all checks: every method goes through the same loop, whole, finite and repeatable."""

import hashlib
import json
import math
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tests.methods.blobs import problem
from tests.training.small import settings

from reweigh.config.methods import METHODS
from reweigh.methods import method_for
from reweigh.training import run
from reweigh.training.progress import SilentProgress
from reweigh.training.run_records import read_metrics, read_status

BUDGET = {"every": 2, "through": 2, "episodes": 2, "mentor_steps": 5, "hidden": 8}
"""Settings that make any method short, and let every teacher learn within few steps."""


def train(name: str, folder: Path) -> run.RunResult:
    short = [
        f"method.{key}={value}"
        for key, value in BUDGET.items()
        if key in METHODS[name].model_fields
    ]
    config = settings(f"method.name={name}", *short)
    return run.train(config, folder, SilentProgress())


def fingerprint(folder: Path) -> str:
    """Of everything that a run learned; the time it took is left out."""
    rows = [{k: v for k, v in r.items() if k != "train_seconds"} for r in read_metrics(folder)]
    whole = hashlib.sha256(json.dumps(rows).encode())
    for file in sorted([*folder.glob("*.safetensors"), *folder.glob("weights/*.npy")]):
        whole.update(file.read_bytes())
    return whole.hexdigest()


@pytest.fixture(autouse=True)
def _tiny_problem(monkeypatch) -> None:
    monkeypatch.setattr(run, "prepared", lambda spec: problem(train=48))


@pytest.mark.parametrize("name", METHODS)
def test_a_run_is_whole_finite_and_repeatable(name: str, tmp_path: Path) -> None:
    result = train(name, tmp_path / "a")
    assert read_status(tmp_path / "a") == "done"
    assert 0 <= result.test_error_last <= 1
    assert 0 <= result.test_error_best_by_trusted <= 1
    assert result.noise_auroc is None or 0 <= result.noise_auroc <= 1
    (row,) = read_metrics(tmp_path / "a")
    assert all(math.isfinite(value) for value in row.values())
    assert 0 < row["effective_share"] <= 1 + 1e-6
    for file in (tmp_path / "a").glob("*.safetensors"):
        assert all(torch.isfinite(t).all() for t in load_file(file).values()), file
    train(name, tmp_path / "b")
    assert fingerprint(tmp_path / "a") == fingerprint(tmp_path / "b")


def test_another_seed_is_another_run(tmp_path: Path) -> None:
    for seed in (0, 1):
        config = settings("method.name=deep", "method.every=2", f"seed={seed}")
        run.train(config, tmp_path / str(seed), SilentProgress())
    assert fingerprint(tmp_path / "0") != fingerprint(tmp_path / "1")


def test_every_method_has_a_home() -> None:
    for config in METHODS.values():
        assert method_for(config()).config == config()
