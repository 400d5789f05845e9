from pathlib import Path

import pytest
import torch
from tests.methods.blobs import blobs, problem, setting, student
from tests.training.small import settings

from reweigh.config.methods import PerfectWeightsConfig
from reweigh.errors import UsageError
from reweigh.methods import method_for
from reweigh.training import run
from reweigh.training.progress import SilentProgress

TRAIN = blobs(64, seed=2)


def test_wrong_labels_weigh_nothing_and_right_ones_alike() -> None:
    ready = setting(student(), lambda update, size: None, right=TRAIN.right)
    one = method_for(PerfectWeightsConfig()).reweigher(ready)
    ids = torch.arange(10, 50)
    w = one.step(TRAIN.x[ids], TRAIN.given[ids], ids=ids).weights
    right = TRAIN.right[ids]
    assert w[~right].tolist() == [0.0] * int((~right).sum())
    torch.testing.assert_close(w[right], torch.full_like(w[right], 1 / int(right.sum())))


def test_its_weights_tell_wrong_labels_without_a_mistake(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(run, "prepared", lambda spec: problem())
    config = settings("method.name=perfect-weights")
    assert run.train(config, tmp_path / "run", SilentProgress()).noise_auroc == 1.0


def test_it_is_refused_where_nobody_knows_the_truth() -> None:
    ready = setting(student(), lambda update, size: None)
    with pytest.raises(
        UsageError, match=r"known only where the noise was planted: give data\.noise"
    ):
        method_for(PerfectWeightsConfig()).reweigher(ready)
