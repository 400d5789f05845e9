import numpy as np

from reweigh.data.sources import load


def test_digits_are_split_by_class_without_shared_content():
    source = load("digits")
    assert len(source.train) + len(source.test) == 1797
    assert source.train.inputs.shape[1:] == (8, 8, 1)
    assert source.train.inputs.dtype == np.uint8
    assert source.train.inputs.max() == 255
    assert np.bincount(source.test.labels).min() >= 34
    assert not set(source.train.content_hashes()) & set(source.test.content_hashes())
    assert sorted([*source.train.ids, *source.test.ids]) == list(range(1797))
