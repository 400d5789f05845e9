from dataclasses import replace

import numpy as np
import pytest

from reweigh.data.encoding import Column, Encoding
from reweigh.data.samples import Source, numbered
from reweigh.data.trusted import (
    default_number,
    read_trusted,
    split_trusted,
    with_trusted_in_train,
)
from reweigh.errors import DataError, UsageError


def table(n, start=0):
    inputs = np.arange(start, start + n, dtype=np.float32)[:, None]
    return numbered(inputs, np.arange(n) % 2)


SOURCE = Source(table(40), table(10, 100), ("cat", "dog"), "table", "given")


def split(source=SOURCE, path=None, number=None, seed=0):
    return split_trusted(source, source.train, read_trusted(source, path, number), seed)


def test_the_default_is_that_of_meta_weight_net_on_cifar():
    assert default_number(np.repeat(np.arange(10), 5000), 10) == 100
    assert default_number(np.repeat(np.arange(100), 500), 100) == 10
    assert default_number(np.repeat(np.arange(10), 140), 10) == 14
    assert default_number(np.repeat(np.arange(2), 3), 2) == 1


def test_n_per_class_are_split_off_by_the_seed():
    train, trusted = split(number=3)
    assert np.bincount(trusted.labels).tolist() == [3, 3]
    assert sorted([*train.ids, *trusted.ids]) == list(range(40))
    assert split(number=3)[1].ids.tolist() == trusted.ids.tolist()
    assert split(number=3, seed=1)[1].ids.tolist() != trusted.ids.tolist()


def test_copies_of_split_off_samples_leave_train():
    source = replace(SOURCE, train=replace(SOURCE.train, inputs=SOURCE.train.inputs // 2))
    train, trusted = split(source, number=2)
    assert len(trusted) == 4
    assert not set(train.inputs[:, 0]) & set(trusted.inputs[:, 0])
    assert len(train) < 36


def test_listed_ids_move_with_corrected_labels(tmp_path):
    (tmp_path / "t.csv").write_text("id,label\n7,cat\n2,dog\n")
    train, trusted = split(path=tmp_path / "t.csv")
    assert trusted.ids.tolist() == [7, 2]
    assert trusted.labels.tolist() == [0, 1]  # the data said dog, cat
    assert len(train) == 38


def test_named_samples_leave_a_test_set_that_we_held_out_with_their_copies(tmp_path):
    whole = numbered(np.arange(20, dtype=np.float32)[:, None] // 2, np.arange(20) % 2)
    held = replace(SOURCE, train=whole.take(np.arange(12)), test=whole.take(np.arange(12, 20)))
    (tmp_path / "t.txt").write_text("3\n14\n")
    listed = read_trusted(held, tmp_path / "t.txt", None)
    ours = with_trusted_in_train(replace(held, split="ours"), listed)
    assert ours.test.ids.tolist() == [12, 13, 16, 17, 18, 19]
    assert ours.train.ids.tolist() == [*range(12), 14, 15]
    assert with_trusted_in_train(held, listed) is held  # a given test set stays
    train, trusted = split(ours, path=tmp_path / "t.txt")
    assert trusted.ids.tolist() == [3, 14]
    assert not {2, 3, 14, 15} & set(train.ids.tolist())  # nor are copies trained on


def test_samples_whose_label_is_empty_are_not_trusted_and_stay_in_the_test_set(tmp_path):
    whole = numbered(np.arange(20, dtype=np.float32)[:, None], np.arange(20) % 2)
    parts = {"train": whole.take(np.arange(12)), "test": whole.take(np.arange(12, 20))}
    source = replace(SOURCE, **parts, split="ours")
    (tmp_path / "t.csv").write_text("id,answer\n3,dog\n5,\n14,cat\n15,\n")
    listed = read_trusted(source, tmp_path / "t.csv", None, "answer")
    moved = with_trusted_in_train(source, listed)
    assert moved.test.ids.tolist() == [12, 13, 15, 16, 17, 18, 19]
    _, trusted = split_trusted(moved, moved.train, listed, 0)
    assert trusted.ids.tolist() == [3, 14]
    assert trusted.labels.tolist() == [1, 0]


def test_given_apart_it_must_not_overlap(tmp_path):
    def given(x):
        np.savez(tmp_path / "t.npz", x_trusted=np.asarray(x, float)[:, None], y_trusted=[0, 1])
        return split(path=tmp_path / "t.npz")

    train, trusted = given([200, 201])
    assert train is SOURCE.train
    assert trusted.labels.tolist() == [0, 1]
    with pytest.raises(DataError, match="1 of 2 trusted samples also occur in the train set"):
        given([200, 3])
    with pytest.raises(DataError, match="also occur in the test set"):
        given([200, 103])
    with pytest.raises(DataError, match="trusted samples also occur in the train"):
        split(replace(SOURCE, trusted=table(2)))


def test_wrong_requests(tmp_path):
    (tmp_path / "t.txt").write_text("99\n")
    with pytest.raises(DataError, match="id '99' is neither a sample's number"):
        split(path=tmp_path / "t.txt")
    with pytest.raises(DataError, match="Class 'cat' has 20 training samples; taking 20 as"):
        split(number=20)
    with pytest.raises(UsageError, match="0 samples per class"):
        split(number=0)
    with pytest.raises(UsageError, match="given twice"):
        split(path=tmp_path / "t.txt", number=2)
    np.savez(tmp_path / "t.npz", x=[1])
    with pytest.raises(DataError, match="no array 'x_trusted'"):
        split(path=tmp_path / "t.npz")


def test_raw_numbers_are_no_trusted_rows_of_a_table(tmp_path):
    np.savez(tmp_path / "t.npz", x_trusted=np.ones((2, 1)), y_trusted=[0, 1])
    encoded = replace(SOURCE, encoding=Encoding(columns=(Column(name="a"),)))
    with pytest.raises(
        DataError, match="a student sees the columns of a table as its training rows"
    ):
        read_trusted(encoded, tmp_path / "t.npz", None)
