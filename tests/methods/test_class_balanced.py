"""Rare classes weigh more, by the published formula."""

import pytest
import torch
from tests.methods.blobs import problem, setting, student

from reweigh.config.methods import ClassBalancedConfig
from reweigh.methods.class_balanced import ClassBalanced, effective_weights
from reweigh.student.seen import Progress, Seen


def test_weights_are_one_over_the_geometric_sum() -> None:
    """(1 − β^n) / (1 − β) is 1 + β + … + β^(n−1), by hand for small n."""
    beta = 0.9
    sums = torch.tensor([1.0, 1 + 0.9, 1 + 0.9 + 0.81], dtype=torch.float64)
    by_hand = (1 / sums) * 3 / (1 / sums).sum()
    torch.testing.assert_close(effective_weights(torch.tensor([1, 2, 3]), beta), by_hand)


def test_between_plain_training_and_inverse_frequency() -> None:
    counts = torch.tensor([1000, 100, 10])
    torch.testing.assert_close(effective_weights(counts, 0.0), torch.ones(3).double())
    w = effective_weights(counts, 1 - 1e-9)
    torch.testing.assert_close(
        w / w[0], torch.tensor([1.0, 10.0, 100.0]).double(), rtol=1e-5, atol=0
    )


def test_a_class_that_never_occurs_takes_no_weight_from_others() -> None:
    w = effective_weights(torch.tensor([5, 0, 5]), 0.99)
    torch.testing.assert_close(w, torch.tensor([1.5, 0.0, 1.5]).double())


def test_the_run_weighs_by_the_labels_that_it_is_given() -> None:
    method, net = ClassBalanced(ClassBalancedConfig(beta=0.99)), student()
    counts = torch.bincount(torch.from_numpy(method.problem(problem()).train.labels))
    teacher = method.reweigher(setting(net, lambda update, size: (net, net))).teacher
    assert teacher is not None
    y = torch.tensor([2, 0, 1, 0])
    w = teacher(Seen(torch.ones(4), y, {}, Progress(), None))
    torch.testing.assert_close(w, effective_weights(counts, 0.99).float()[y])


@pytest.mark.parametrize("beta", [0.0, 0.9999])
def test_balanced_classes_are_plain_training(beta: float) -> None:
    torch.testing.assert_close(effective_weights(torch.full((4,), 7), beta), torch.ones(4).double())
