from dataclasses import replace

import numpy as np
import pytest

from reweigh.data.checks import check
from reweigh.data.samples import Source, numbered
from reweigh.errors import DataError


def table(labels, width=2):
    return numbered(
        np.ones((len(labels), width), dtype=np.float32), np.asarray(labels, dtype=np.int64)
    )


GOOD = Source(table([0, 1, 2]), table([0, 1]), ("a", "b", "c"), "table", "given")


def with_nan():
    samples = table([0, 1, 2])
    samples.inputs[1, 1] = np.nan
    return samples


def test_good_data_passes():
    check(GOOD)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"train": table([0, 1, 3])}, r"train sample 2 has label 3, outside 0\.\.2"),
        ({"test": table([0, -1])}, r"test sample 1 has label -1"),
        ({"train": table([0, 0, 2])}, r"Class 1 \('b'\) has no training sample"),
        ({"class_names": ("a",)}, r"1 class\(es\); at least two"),
        ({"test": table([])}, "test set is empty"),
        ({"test": table([0], width=3)}, r"test sample has shape \(3,\) but a train sample \(2,\)"),
        ({"trusted": table([0], width=1)}, "A trusted sample has shape"),
        ({"train": with_nan()}, "train sample 1 holds a value that is not finite"),
    ],
)
def test_bad_data_gets_one_sentence(change, sentence):
    with pytest.raises(DataError, match=sentence):
        check(replace(GOOD, **change))
