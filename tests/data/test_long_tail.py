import numpy as np
import pytest

from reweigh.data.long_tail import long_tail
from reweigh.errors import UsageError


def test_class_sizes_follow_the_formula():
    labels = np.repeat(np.arange(10), 500)
    kept = np.bincount(labels[long_tail(labels, 10, 100, seed=0)])
    assert kept.tolist() == [int(500 * 0.01 ** (c / 9) + 1e-9) for c in range(10)]
    assert kept[0] == 500
    assert kept[-1] == 5


def test_no_class_vanishes_and_seeds_differ():
    labels = np.repeat(np.arange(3), 20)
    assert np.bincount(labels[long_tail(labels, 3, 1000, 0)]).tolist() == [20, 1, 1]
    assert not np.array_equal(long_tail(labels, 3, 10, 0), long_tail(labels, 3, 10, 1))


@pytest.mark.parametrize("imbalance", [0.5, 0, -1, float("nan"), float("inf")])
def test_bad_imbalance_is_a_usage_error(imbalance):
    with pytest.raises(UsageError, match="imbalance"):
        long_tail(np.asarray([0, 1]), 2, imbalance, 0)
