import numpy as np
import pytest

from reweigh.data.samples import Samples, Source, numbered


def samples(n=6):
    inputs = np.arange(n * 12, dtype=np.uint8).reshape(n, 2, 2, 3)
    return numbered(inputs, np.arange(n) % 2, np.asarray([f"s{i}" for i in range(n)]))


def test_take_keeps_everything_together():
    part = samples().take(np.asarray([4, 1]))
    assert part.ids.tolist() == [4, 1]
    assert part.labels.tolist() == [0, 1]
    assert part.names.tolist() == ["s4", "s1"]
    np.testing.assert_array_equal(part.inputs[0], samples().inputs[4])
    assert len(samples().take(np.asarray([True, False] * 3))) == 3


def test_hashes_tell_equal_inputs_whatever_their_labels_and_layout():
    whole = samples()
    twice = Samples(whole.inputs[[0, 3, 0]], np.asarray([0, 1, 1]), np.arange(3))
    first, second, third = twice.content_hashes()
    assert first == third != second
    by_columns = Samples(np.asfortranarray(whole.inputs), whole.labels, whole.ids)
    np.testing.assert_array_equal(by_columns.content_hashes(), whole.content_hashes())


def test_hashes_see_every_bit():
    inputs = np.zeros((65, 16), dtype=np.float32)
    for i in range(64):
        inputs.view(np.uint8)[i + 1, i] = 1
    assert len(np.unique(numbered(inputs, np.zeros(65, dtype=np.int64)).content_hashes())) == 65


def test_lengths_must_agree():
    with pytest.raises(AssertionError, match="differ in length"):
        Samples(np.zeros((2, 1)), np.zeros(3, dtype=np.int64), np.arange(2))


def test_ids_count_the_whole_or_the_train_part():
    whole = samples()
    cut = Source(whole.take(np.arange(4)), whole.take(np.arange(4, 6)), ("a", "b"), "image", "ours")
    assert len(cut.counted) == 6
    apart = Source(whole, samples(2), ("a", "b"), "image", "given")
    assert len(apart.counted) == 6
