"""Gold loss correction: the matrix by hand and found, a second student that is better."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.methods.blobs import setting
from torch import nn

from reweigh.config import RunConfig
from reweigh.config.methods import GoldLossCorrectionConfig
from reweigh.methods import Setting, gold_loss_correction, method_for
from reweigh.methods.gold_loss_correction import GoldLossCorrection, MeasuredTeacher
from reweigh.student.batch import find_labels
from reweigh.training import run
from reweigh.training.progress import SilentProgress
from reweigh.training.result import ErrorResult


def config(method: str) -> RunConfig:
    return RunConfig.model_validate(
        {
            "data": {"name": "digits", "noise": "flip:0.4", "trusted_per_class": 15},
            "method": {"name": method},
            "training": {"epochs": 20, "lr": 0.1},
            "threads": 1,
        }
    )


class Sure(nn.Module):
    """Answers with the probabilities it is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, p: torch.Tensor) -> torch.Tensor:
        return self.scale * p.log()


def test_the_matrix_is_the_mean_prediction_and_the_loss_follows_it() -> None:
    x = torch.tensor([[0.8, 0.1, 0.1], [0.6, 0.3, 0.1], [0.2, 0.2, 0.6]])
    y = torch.tensor([0, 0, 1])  # nobody trusted is of class 2
    here = setting(Sure(), lambda update, size: (x[:size], y[:size]))
    method = method_for(GoldLossCorrectionConfig())
    assert isinstance(method, GoldLossCorrection)
    found = method._asked(here)
    expected = torch.tensor([[0.7, 0.2, 0.1], [0.2, 0.2, 0.6], [0.0, 0.0, 1.0]])
    torch.testing.assert_close(found, expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gold_loss_correction, "CHUNK", 2)  # the last part is a shorter one
        torch.testing.assert_close(method._asked(here), expected)
    p, given = torch.tensor([[0.5, 0.3, 0.2]] * 2), torch.tensor([2, 2])
    teacher = MeasuredTeacher(here, found)
    losses = teacher.loss(here.per_sample_loss, find_labels)(
        here.student, (p, given, torch.tensor([False, True]))
    )
    by_hand = torch.tensor([0.5 * 0.1 + 0.3 * 0.6 + 0.2 * 1.0, 0.2])
    torch.testing.assert_close(losses.detach(), -by_hand.log())


def test_it_finds_the_planted_noise_and_beats_plain_training(tmp_path: Path, monkeypatch) -> None:
    found: list[torch.Tensor] = []
    asked = GoldLossCorrection._asked

    def noted(self: GoldLossCorrection, here: Setting) -> torch.Tensor:
        found.append(asked(self, here))
        return found[-1]

    monkeypatch.setattr(GoldLossCorrection, "_asked", noted)
    plain = run.train(config("uniform"), tmp_path / "plain", SilentProgress())
    ours = run.train(config("gold-loss-correction"), tmp_path / "ours", SilentProgress())
    assert isinstance(plain, ErrorResult)
    assert isinstance(ours, ErrorResult)
    assert ours.test_error_last < 0.7 * plain.test_error_last
    problem = run.prepared(config("uniform"))
    planted = np.zeros((10, 10))
    np.add.at(planted, (problem.true_labels, problem.train.labels), 1)
    planted /= planted.sum(1, keepdims=True)
    assert np.abs(found[0].numpy() - planted).mean() < 0.05
