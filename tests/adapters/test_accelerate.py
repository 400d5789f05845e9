"""Accelerate needs no adapter: what the documentation shows gives what a loop of one's own gives."""

import pytest
from tests.adapters.toy import (
    SETTINGS,
    TRUSTED,
    X,
    Y,
    assert_same,
    net,
    optimizer_of,
    parameters,
    plain,
    teacher,
)
from torch.utils.data import DataLoader, TensorDataset

import reweigh

accelerate = pytest.importorskip("accelerate", reason="accelerate is not installed")


def test_the_loop_of_the_documentation() -> None:
    accelerator = accelerate.Accelerator(cpu=True)
    student = net()
    loader = DataLoader(TensorDataset(X, Y), batch_size=8)
    model, optimizer, loader = accelerator.prepare(student, optimizer_of(student), loader)
    one = teacher(student)
    reweigher = reweigh.Reweigher(
        accelerator.unwrap_model(model), optimizer.optimizer, one, trusted=TRUSTED, **SETTINGS
    )
    for _ in range(2):
        for x, y in loader:
            accelerator.backward(reweigher.loss(x, y))
            optimizer.step()
            optimizer.zero_grad()
            reweigher.after_step()
    assert_same(parameters(student, one), plain(2)[0])
