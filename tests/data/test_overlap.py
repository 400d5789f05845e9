import numpy as np
import pytest

from reweigh.data.overlap import drop_copies, refuse_copies
from reweigh.data.samples import numbered
from reweigh.errors import DataError


def table(values):
    inputs = np.asarray(values, dtype=np.float32)[:, None]
    return numbered(inputs, np.zeros(len(values), dtype=np.int64))


def test_copies_leave_train():
    rest = drop_copies(table([1, 2, 3, 2]), table([2, 9]))
    assert rest.ids.tolist() == [0, 2]
    whole = table([1, 2])
    assert drop_copies(whole, table([5])) is whole


def test_copies_are_refused_by_count_and_id():
    refuse_copies(table([1, 2]), table([3]), "train", "test")
    with pytest.raises(
        DataError, match=r"2 of 4 train samples .* test set \(first train ids: 1, 3"
    ):
        refuse_copies(table([1, 2, 3, 2]), table([2]), "train", "test")
