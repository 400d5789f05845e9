"""Batches of every container."""

from collections import UserDict
from dataclasses import dataclass
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from reweigh.errors import UsageError
from reweigh.student.batch import (
    batch_length,
    check_losses,
    cross_entropy,
    find_labels,
    mapped,
    moved_to,
    tensors,
)

X, Y = torch.zeros(3, 2), torch.tensor([0, 1, 1])


@dataclass
class Record:
    image: Tensor
    target: Tensor


BATCHES = [(X, Y), [X, Y], {"image": X, "labels": Y}, Record(X, Y)]


@pytest.mark.parametrize("batch", BATCHES, ids=lambda b: type(b).__name__)
def test_length_labels_and_tensors(batch):
    assert batch_length(batch) == 3
    assert find_labels(batch) is Y
    assert [t.shape for t in tensors(batch)] == [(3, 2), (3,)]


@pytest.mark.parametrize("batch", BATCHES, ids=lambda b: type(b).__name__)
def test_moving_keeps_the_container(batch):
    moved = moved_to(batch, torch.device("meta"))
    assert type(moved) is type(batch)
    assert all(t.device.type == "meta" for t in tensors(moved))


def test_labels_that_are_nowhere():
    assert find_labels(X) is None
    assert find_labels((X,)) is None
    assert find_labels({"image": X}) is None


def test_a_batch_without_a_batch_dimension():
    with pytest.raises(UsageError, match=r"no tensor with a batch dimension .* of type dict"):
        batch_length({"x": torch.tensor(1.0)})


def test_nested_batches():
    assert batch_length(({"ids": X}, Y)) == 3
    assert len(list(tensors(({"ids": X, "more": [X, X]}, Y)))) == 4


def test_the_default_loss():
    student = torch.nn.Linear(2, 2)
    losses = cross_entropy(student, (X, Y))
    torch.testing.assert_close(losses.mean(), torch.nn.functional.cross_entropy(student(X), Y))
    with pytest.raises(UsageError, match=r"takes batches \(x, y\), but got a dict"):
        cross_entropy(student, {"x": X})


def test_losses_of_the_right_shape_pass():
    losses = torch.zeros(3)
    assert check_losses(losses, (X, Y)) is losses


class Named(NamedTuple):
    x: torch.Tensor
    y: torch.Tensor


def test_a_named_tuple_and_a_mapping_of_another_kind_stay_what_they_are():
    x, y = torch.zeros(2, 3), torch.ones(2)
    moved = moved_to(Named(x, y), torch.device("cpu"))
    assert isinstance(moved, Named)
    encoding = UserDict({"x": x, "y": y})  # as tokenizers give them
    moved = mapped(encoding, lambda t: t + 1)
    assert type(moved) is UserDict
    assert moved["x"].eq(1).all()
    assert encoding["x"].eq(0).all()


def test_the_default_loss_says_that_it_is_for_classes() -> None:
    student, x = torch.nn.Linear(3, 2), torch.randn(4, 3)
    with pytest.raises(UsageError, match=r"y is torch.float32 of shape \(4,\).*per_sample_loss"):
        cross_entropy(student, (x, torch.rand(4)))
    shares = torch.full((4, 2), 0.5)  # of classes, which torch takes
    assert cross_entropy(student, (x, shares)).shape == (4,)
