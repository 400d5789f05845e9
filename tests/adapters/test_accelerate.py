"""Accelerate needs no adapter: what the documentation shows gives what a loop of one's own gives."""

import pytest
from tests.adapters import toy
from torch.utils.data import DataLoader, TensorDataset

import reweigh

accelerate = pytest.importorskip("accelerate", reason="accelerate is not installed")


@pytest.mark.parametrize("accumulate", [1, 2])
def test_the_loop_of_the_documentation(accumulate: int) -> None:
    accelerator = accelerate.Accelerator(cpu=True)
    student = toy.net()
    loader = DataLoader(TensorDataset(toy.X, toy.Y), batch_size=8)
    model, optimizer, loader = accelerator.prepare(student, toy.optimizer_of(student), loader)
    one = toy.teacher(student)
    reweigher = reweigh.Reweigher(
        accelerator.unwrap_model(model),
        optimizer.optimizer,
        one,
        trusted=toy.TRUSTED,
        accumulate=accumulate,
        **toy.SETTINGS,
    )
    for _ in range(2):
        for x, y in loader:
            accelerator.backward(reweigher.loss(x, y))
            if reweigher.step_is_over:
                optimizer.step()
                optimizer.zero_grad()
                reweigher.after_step()
        reweigher.flush()  # what an epoch leaves over
        optimizer.zero_grad()
    toy.assert_same(toy.parameters(student, one), toy.plain(2, accumulate=accumulate)[0])
