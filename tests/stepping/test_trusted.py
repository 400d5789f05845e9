"""Trusted batches from whatever the user has."""

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

import reweigh
from reweigh.errors import UsageError
from reweigh.stepping.trusted import TrustedBatches

X, Y = torch.arange(6.0), torch.arange(6)


def test_a_loader_is_gone_through_again_and_again():
    batches = TrustedBatches(DataLoader(TensorDataset(X, Y), batch_size=2))
    firsts = [int(batches.take(k)[1][0]) for k in range(5)]
    assert firsts == [0, 2, 4, 0, 2]


def test_a_function_is_told_the_update():
    asked = []
    batches = TrustedBatches(lambda update: asked.append(update) or (X, Y))
    batches.peek(4)
    batches.take(7)
    assert asked == [4, 7]


@pytest.mark.parametrize("batch", [(X, Y), [X, Y], {"x": X, "y": Y}, X])
def test_one_batch_is_used_every_time(batch):
    batches = TrustedBatches(batch)
    assert batches.take(0) is batch
    assert batches.take(1) is batch


def test_a_peek_uses_nothing_up():
    batches = TrustedBatches(DataLoader(TensorDataset(X, Y), batch_size=2))
    assert int(batches.peek(0)[1][0]) == 0
    assert [int(batches.take(k)[1][0]) for k in range(3)] == [0, 2, 4]


@pytest.mark.parametrize("strange", [5, object()])
def test_what_gives_no_batches_is_refused(strange):
    with pytest.raises(UsageError, match=r"trusted= is a (int|object): give a DataLoader"):
        TrustedBatches(strange)


def test_arrays_of_numpy_are_refused_as_those_of_the_loop_are():
    student = torch.nn.Linear(1, 2)
    teacher, optimizer = reweigh.LossMarginTeacher(), torch.optim.SGD(student.parameters(), 0.1)
    arrays = X.float().numpy(), Y.numpy()
    held = reweigh.Reweigher(student, optimizer, teacher, trusted=arrays)
    with pytest.raises(UsageError, match=r"in the trusted batch: .*tensor"):
        held.step(torch.ones(2, 1), torch.tensor([0, 1]))


@pytest.mark.parametrize("empty", [[], iter([])], ids=["list", "iterator"])
def test_nothing_there(empty):
    with pytest.raises(UsageError, match=r"gave no batch: it is empty"):
        TrustedBatches(empty).take(0)
