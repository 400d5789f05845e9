import numpy as np
import pytest

from reweigh.data.labels import read_labels
from reweigh.data.samples import Source, numbered
from reweigh.errors import DataError, UsageError

NAMES = ("cat", "dog", "owl")
WHOLE = numbered(
    np.zeros((5, 1), dtype=np.float32), np.asarray([0, 1, 2, 0, 1]),
    np.asarray(["e.png", "d.png", "c.png", "b.png", "a.png"]),
)  # fmt: skip
TRAIN = WHOLE.take(np.asarray([4, 0, 2]))  # out of order, two samples held out
SOURCE = Source(TRAIN, WHOLE.take(np.asarray([1, 3])), NAMES, "table", "ours")


def write(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    return tmp_path / name


def new_labels(path):
    return read_labels(path, SOURCE).put_on(TRAIN).labels.tolist()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("l.txt", "dog\ncat\ncat\nowl\nowl\n"),
        ("l.txt", "1\r\n0\r\n0\r\n2\r\n2"),
        ("l.csv", "label\ndog\ncat\ncat\nowl\nowl\n"),
        ("l.csv", "id,label\n4,owl\n0,1\n2,0\n3,2\n"),
        ("l.csv", "label,id\nowl,a.png\ndog,e.png\ncat,c.png\n"),
        ("l.csv", "path,label\na.png,owl\ne.png,dog\nc.png,cat\n"),
        ("l.csv", "label,id\nowl,a.png\ncat,d.png\ndog,e.png\ncat,c.png\n"),  # one held out
    ],
)
def test_every_form_gives_the_same_labels(tmp_path, name, text):
    assert new_labels(write(tmp_path, name, text)) == [2, 1, 0]


def test_arrays_of_numbers(tmp_path):
    np.save(tmp_path / "l.npy", np.asarray([1, 0, 0, 2, 2]))
    assert new_labels(tmp_path / "l.npy") == [2, 1, 0]


def test_samples_without_a_new_label_keep_theirs(tmp_path):
    path = write(tmp_path, "l.csv", "id,label\n2,cat\n1,cat\n")
    assert new_labels(path) == [1, 0, 0]


def test_samples_whose_label_is_empty_were_not_looked_at(tmp_path):
    path = write(tmp_path, "l.csv", "id,given,label\n4,owl,owl\n2,cat,\n0,cat,\n")
    assert read_labels(path, SOURCE).ids.tolist() == [4]
    assert new_labels(path) == [2, 0, 2]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("l.txt", "0\n1\n", "has 2 labels but the data has 5 samples"),
        ("l.txt", "", "is empty; expected one line a sample"),
        ("l.csv", "id,label\n0,cat\n0,dog\n", "names '0' twice"),
        ("l.csv", "id,label\nx.png,cat\n", "'x.png' is neither.*such as 'a.png'"),
        (
            "l.csv",
            "id,label\na.png,cat\nx.png,cat\n",
            "'x.png' is not the name of a sample, although 'a.png' is",
        ),
        ("l.csv", "id,label\na.png,cat\n3,cat\n", "'3' is not the name of a sample"),
        (
            "l.csv",
            "id,label\n5,cat\n-1,cat\n",
            r"'5' is neither a sample's number \(0 … 4\).*2 such",
        ),
        ("l.csv", "id,label\n0,\n", "has no label in its column 'label'; fill in those"),
        ("l.csv", 'label\ncat\n""\ncat\ncat\ncat\n', "data row 2 has no label"),
        ("l.csv", "a,b\n0,cat\n", "expected id,label or one column"),
        ("l.csv", "id,label\n0,3\n", "label '3' is neither"),
        ("l.npy", "not an array", "cannot be read"),
    ],
)
def test_bad_files_get_one_sentence(tmp_path, name, text, sentence):
    with pytest.raises(DataError, match=sentence):
        read_labels(write(tmp_path, name, text), SOURCE)


def test_unknown_form_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match=r"expected \.txt, \.npy or \.csv"):
        read_labels(write(tmp_path, "l.json", "[]"), SOURCE)
