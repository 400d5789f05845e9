from pathlib import Path

import pytest
import torch
from tests.training.interrupted import asked_after, run_until_asked, tiny

from reweigh.errors import CheckpointError, DivergedError
from reweigh.training.checkpoint import Checkpoints
from reweigh.training.keeper import Keeper, refuse_non_finite
from reweigh.training.loop import Loop
from reweigh.training.progress import SilentProgress
from reweigh.training.run import resume, train
from reweigh.training.run_records import read_status


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_not_finite_is_found_in_any_depth(bad: float) -> None:
    fine = {"state": {0: {"momentum_buffer": torch.ones(2), "step": torch.tensor(3)}}, "lr": [0.1]}
    refuse_non_finite("optimizer", fine)
    fine["state"][0]["momentum_buffer"] = torch.tensor([1.0, bad])
    with pytest.raises(DivergedError, match=r"'state\.0\.momentum_buffer' of the optimizer"):
        refuse_non_finite("optimizer", fine)


def planted(where: str, loop: Loop) -> None:
    shop = loop.shop
    if where == "student":
        next(shop.student.parameters()).data[0] = torch.nan
    elif where == "optimizer":
        state = next(iter(shop.optimizer.state.values()))
        state["momentum_buffer"].view(-1)[0] = torch.inf
    elif where == "teacher":
        assert shop.reweigher.teacher is not None
        next(shop.reweigher.teacher.parameters()).data.view(-1)[0] = torch.nan


@pytest.mark.parametrize("where", ["student", "optimizer", "teacher"])
def test_no_checkpoint_holds_what_is_not_finite(tmp_path: Path, monkeypatch, where: str) -> None:
    """Planted after the last step of the second epoch, where no loss would show it any more."""
    save = Keeper.save

    def spoiled(keeper: Keeper, loop: Loop) -> None:
        if loop.done > loop.shop.steps_per_epoch:
            planted(where, loop)
        save(keeper, loop)

    monkeypatch.setattr(Keeper, "save", spoiled)
    with pytest.raises(DivergedError, match="is not finite and was not saved"):
        train(tiny("deep"), tmp_path / "run", SilentProgress())
    assert read_status(tmp_path / "run") == "failed"
    home = Checkpoints(tmp_path / "run" / "checkpoints")
    assert len(home.steps()) == 1
    assert home.newest() is not None


def test_rows_that_are_missing_are_told(tmp_path: Path, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        asked_after(patch, 14)
        run_until_asked(tiny("uniform"), tmp_path / "run")
    (tmp_path / "run" / "metrics.jsonl").write_text("")
    with pytest.raises(CheckpointError, match="shorter than when the checkpoint was written"):
        resume(tmp_path / "run", SilentProgress())
    assert (tmp_path / "run" / "checkpoints").is_dir()
