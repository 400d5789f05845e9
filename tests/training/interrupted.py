"""Runs that are interrupted by a real signal, and what must be the same in the end."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tests.training.small import settings

from reweigh.config import RunConfig
from reweigh.errors import InterruptedRun
from reweigh.training.checkpoint import Checkpoints
from reweigh.training.loop import Loop
from reweigh.training.progress import SilentProgress
from reweigh.training.result import RunResult
from reweigh.training.run import resume, train
from reweigh.training.run_records import read_metrics
from reweigh.training.tasks.classification import Classification
from reweigh.training.weight_store import WeightStore

METHODS = {
    "deep": ("method.name=deep", "method.average=0.9", "method.every=4", "method.through=2"),
    "paper": (
        *("method.name=deep", "method.teacher=linear", "method.every=4", "method.through=2"),
        *("method.trusted_share=0", "method.trajectory=snapshots"),
    ),
    "meta-weight-net": ("method.name=meta-weight-net",),
    "mentornet": ("method.name=mentornet", "method.mentor_steps=30", "method.burn_in=0.3"),
    "l2t-data": ("method.name=l2t-data", "method.episodes=2"),
    "gold-loss-correction": ("method.name=gold-loss-correction",),
    "uniform": ("method.name=uniform",),
}


def tiny(method: str, *more: str) -> RunConfig:
    """Two epochs, 12 steps each where nothing is mixed in."""
    return settings("training.epochs=2", "training.batch_size=8", *METHODS[method], *more)


def asked_after(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    """SIGTERM in the middle of the step of that number, counted over trials and run."""
    _asked(monkeypatch, Loop, "step", steps)


def asked_in_evaluation(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """SIGTERM just before the trusted error of that number is measured."""
    _asked(monkeypatch, Classification, "standing", number)


def _asked(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, number: int) -> None:
    original: Callable[..., Any] = getattr(owner, name)
    calls = iter(range(1, 10**9))

    def counted(*arguments: Any) -> Any:
        if next(calls) == number:
            os.kill(os.getpid(), signal.SIGTERM)
        return original(*arguments)

    monkeypatch.setattr(owner, name, counted)


def run_until_asked(config: RunConfig, folder: Path) -> None:
    """Train, or go on, until the signal."""
    with pytest.raises(InterruptedRun, match="reweigh resume"):
        begin_or_go_on(config, folder)


def begin_or_go_on(config: RunConfig, folder: Path) -> RunResult:
    """What a script that is started again and again would do."""
    if folder.exists():
        return resume(folder, SilentProgress())
    return train(config, folder, SilentProgress())


def everything(folder: Path) -> dict[str, Any]:
    """All that a run leaves, without its times."""
    newest = Checkpoints(folder / "checkpoints").newest()
    assert newest is not None
    weights = WeightStore(folder / "weights", _size(folder))
    return {
        "student": newest.student,
        "state": newest.state,
        "rows": [_timeless(row) for row in read_metrics(folder)],
        "weights": {e: torch.from_numpy(np.array(weights.epoch(e))) for e in weights.epochs()},
        "result": _timeless(json.loads((folder / "result.json").read_text())),
        "files": {f.name: load_file(f) for f in folder.glob("*.safetensors")},
    }


def _size(folder: Path) -> int:
    with np.load(folder / "samples.npz") as stored:
        return len(stored["ids"])


_TIMES = ("train_seconds", "tokens/s")


def _timeless(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in _TIMES}


def assert_same(a: Any, b: Any, where: str = "run") -> None:
    """Bit for bit, through all containers; seconds and the length of rows with times aside."""
    if where.endswith((".seconds", ".metrics")):
        return
    assert type(a) is type(b), where
    if isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            assert_same(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), where
        for i, (one, other) in enumerate(zip(a, b, strict=True)):
            assert_same(one, other, f"{where}.{i}")
    elif isinstance(a, torch.Tensor):
        assert a.dtype == b.dtype, where
        assert torch.equal(torch.nan_to_num(a, 7e7), torch.nan_to_num(b, 7e7)), where
    else:
        assert a == b, where
