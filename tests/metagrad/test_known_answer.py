"""A quadratic student: the engine against an answer solved on paper (see quadratic.py)."""

import pytest
import torch
from tests.metagrad import quadratic

import reweigh

EXACT = {"rtol": 1e-13, "atol": 1e-15}


def found(rates, trajectory, **settings):
    student, teacher = quadratic.OneNumber(), quadratic.OneWeightEach()
    optimizer = torch.optim.SGD(student.parameters(), lr=rates[0], **settings)
    reweigher = reweigh.Reweigher(
        student, optimizer, teacher, trusted=quadratic.TRUSTED, per_sample_loss=quadratic.loss,
        every=None, through=len(rates), trajectory=trajectory,
    )  # fmt: skip
    for rate in rates:
        optimizer.param_groups[0]["lr"] = rate
        reweigher.step(quadratic.BATCH)
    optimizer.param_groups[0]["lr"] = 99.0  # the next step's rate is nobody's business
    return reweigher.meta_gradient(quadratic.TRUSTED)["omega"]


@pytest.mark.parametrize("trajectory", ["kept", "snapshots"])
def test_one_step_of_sgd(trajectory):
    by_hand = quadratic.sgd_one_step(0.3)
    torch.testing.assert_close(found([0.3], trajectory), by_hand, **EXACT)


@pytest.mark.parametrize("trajectory", ["kept", "snapshots", "reversal"])
def test_two_steps_with_momentum_at_changing_rates(trajectory):
    by_hand = quadratic.momentum_two_steps(0.3, 0.1, 0.8)
    torch.testing.assert_close(found([0.3, 0.1], trajectory, momentum=0.8), by_hand, **EXACT)
