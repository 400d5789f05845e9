import functools
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.training.interrupted import (
    METHODS,
    asked_after,
    asked_in_evaluation,
    assert_same,
    everything,
    run_until_asked,
    tiny,
)

from reweigh.training.progress import SilentProgress
from reweigh.training.run import resume, train
from reweigh.training.run_records import read_status

_EPOCH = 12  # steps


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What a run in one piece leaves, by method."""

    @functools.cache
    def of(method: str) -> dict[str, Any]:
        torch.set_num_threads(1)
        folder = tmp_path_factory.mktemp("whole") / "run"
        train(tiny(method), folder, SilentProgress())
        return everything(folder)

    return of


def test_the_comparison_can_fail(whole, tmp_path: Path) -> None:
    train(tiny("uniform", "seed=1"), tmp_path / "run", SilentProgress())
    with pytest.raises(AssertionError):
        assert_same(whole("uniform"), everything(tmp_path / "run"))


@pytest.mark.parametrize("step", [1, 4, 7, _EPOCH], ids=["first", "taught", "middle", "epoch"])
@pytest.mark.parametrize("method", METHODS)
def test_a_run_goes_on_to_the_same_bits(
    whole, tmp_path: Path, monkeypatch, method: str, step: int
) -> None:
    with monkeypatch.context() as patch:
        asked_after(patch, step)
        run_until_asked(tiny(method), tmp_path / "run")
    assert read_status(tmp_path / "run") == "interrupted"
    resume(tmp_path / "run", SilentProgress())
    assert read_status(tmp_path / "run") == "done"
    assert_same(whole(method), everything(tmp_path / "run"))


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("method", METHODS)
def test_a_run_stopped_in_an_evaluation_goes_on_to_the_same_bits(
    whole, tmp_path: Path, monkeypatch, method: str, number: int
) -> None:
    with monkeypatch.context() as patch:
        asked_in_evaluation(patch, number)
        run_until_asked(tiny(method, "training.checkpoint_every=2"), tmp_path / "run")
    resume(tmp_path / "run", SilentProgress())
    assert_same(whole(method), everything(tmp_path / "run"))


def test_a_chain_of_interruptions_ends_in_the_same_bits(whole, tmp_path: Path, monkeypatch) -> None:
    for steps in (3, 1, 4, 2, 5):
        with monkeypatch.context() as patch:
            asked_after(patch, steps)
            run_until_asked(tiny("deep"), tmp_path / "run")
    resume(tmp_path / "run", SilentProgress())
    assert_same(whole("deep"), everything(tmp_path / "run"))


@pytest.mark.parametrize(
    ("method", "step"), [("l2t-data", 30), ("l2t-data", 50), ("gold-loss-correction", 30)]
)
def test_the_later_parts_of_a_method_with_trials(
    whole, tmp_path: Path, monkeypatch, method: str, step: int
) -> None:
    """24 steps of a first trial, 24 of a second one that moves the policy, or the run."""
    with monkeypatch.context() as patch:
        asked_after(patch, step)
        run_until_asked(tiny(method), tmp_path / "run")
    resume(tmp_path / "run", SilentProgress())
    assert_same(whole(method), everything(tmp_path / "run"))


def test_a_run_killed_before_its_first_checkpoint_begins_again(whole, tmp_path: Path) -> None:
    train(tiny("deep"), tmp_path / "run", SilentProgress())
    shutil.rmtree(tmp_path / "run" / "checkpoints")
    (tmp_path / "run" / "status.json").write_text('{"status": "running"}')
    resume(tmp_path / "run", SilentProgress())
    assert_same(whole("deep"), everything(tmp_path / "run"))


def test_a_damaged_checkpoint_costs_one_epoch_and_no_bit(whole, tmp_path: Path, caplog) -> None:
    train(tiny("deep"), tmp_path / "run", SilentProgress())
    newest = sorted((tmp_path / "run" / "checkpoints").iterdir())[-1]
    (newest / "state.pt").write_bytes((newest / "state.pt").read_bytes()[:-1])
    (tmp_path / "run" / "status.json").write_text('{"status": "running"}')
    resume(tmp_path / "run", SilentProgress())
    assert "state.pt was changed" in caplog.text
    assert_same(whole("deep"), everything(tmp_path / "run"))
