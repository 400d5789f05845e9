import numpy as np
import pytest

from reweigh.data.labels import read_ids, read_labels
from reweigh.data.samples import numbered
from reweigh.data.table_file import inert
from reweigh.errors import DataError, UsageError

NAMES = ("cat", "dog", "owl")
WHOLE = numbered(
    np.zeros((5, 1), dtype=np.float32), np.asarray([0, 1, 2, 0, 1]),
    np.asarray(["e.png", "d.png", "c.png", "b.png", "a.png"]),
)  # fmt: skip
TRAIN = WHOLE.take(np.asarray([4, 0, 2]))  # out of order, two samples held out


def write(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    return tmp_path / name


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
    assert read_labels(write(tmp_path, name, text), TRAIN, NAMES, WHOLE).tolist() == [2, 1, 0]


def test_arrays_of_numbers(tmp_path):
    np.save(tmp_path / "l.npy", np.asarray([1, 0, 0, 2, 2]))
    assert read_labels(tmp_path / "l.npy", TRAIN, NAMES, WHOLE).tolist() == [2, 1, 0]


def test_samples_without_a_new_label_keep_theirs(tmp_path):
    path = write(tmp_path, "l.csv", "id,label\n2,cat\n1,cat\n")
    assert read_labels(path, TRAIN, NAMES, WHOLE).tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("l.txt", "0\n1\n", "has 2 labels but the data has 5 samples"),
        ("l.txt", "", "is empty; expected one line a sample"),
        ("l.csv", "id,label\n0,cat\n0,dog\n", "names '0' twice"),
        ("l.csv", "id,label\nx.png,cat\n", "'x.png' is neither.*such as 'e.png'"),
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
        ("l.csv", "id,label\n0,\n", "no label in column 'label'"),
        ("l.csv", "a,b\n0,cat\n", "expected id,label or one column"),
        ("l.csv", "id,label\n0,3\n", "label '3' is neither"),
        ("l.npy", "not an array", "cannot be read"),
    ],
)
def test_bad_files_get_one_sentence(tmp_path, name, text, sentence):
    with pytest.raises(DataError, match=sentence):
        read_labels(write(tmp_path, name, text), TRAIN, NAMES, WHOLE)


def test_names_that_are_numbers_are_never_taken_for_positions(tmp_path):
    table = numbered(WHOLE.inputs, WHOLE.labels, np.asarray(["3", "4", "5", "6", "7"]))
    ids, _ = read_ids(write(tmp_path, "t.txt", "4\n3\n"), table)
    assert ids.tolist() == [1, 0]
    with pytest.raises(DataError, match="id '0' is not the name of a sample, although '4' is;"):
        read_ids(write(tmp_path, "t.txt", "4\n0\n"), table)
    assert table.called().tolist() == ["3", "4", "5", "6", "7"]
    twice = numbered(WHOLE.inputs, WHOLE.labels, np.asarray(["a", "a", "b", "c", "d"]))
    assert twice.called().tolist() == [0, 1, 2, 3, 4]


def test_what_a_table_of_ours_made_harmless_is_read_as_it_was(tmp_path):
    hostile = numbered(WHOLE.inputs, WHOLE.labels, np.asarray(["=a", "-b/1", "'c", "+1", "'=a"]))
    written = "\n".join(inert(name) for name in hostile.called().tolist())
    ids, _ = read_ids(write(tmp_path, "t.csv", f"id\n{written}\n"), hostile)
    assert ids.tolist() == [0, 1, 2, 3, 4]


def test_unknown_form_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match=r"expected \.txt, \.npy or \.csv"):
        read_labels(write(tmp_path, "l.json", "[]"), TRAIN, NAMES, WHOLE)


def test_ids_with_and_without_labels(tmp_path):
    ids, texts = read_ids(write(tmp_path, "t.txt", "4\n2\n"), TRAIN)
    assert ids.tolist() == [4, 2]
    assert texts is None
    file = write(tmp_path, "t.csv", "id,label\na.png,cat\n")
    ids, texts = read_ids(file, TRAIN, ("species", "label"))
    assert ids.tolist() == [4]
    assert texts.tolist() == ["cat"]
    assert read_ids(file, TRAIN)[1] is None  # nobody asked for them
    file = write(tmp_path, "p.csv", "path,species\na.png,cat\n")
    assert read_ids(file, TRAIN, ("species", "label"))[1].tolist() == ["cat"]
    with pytest.raises(DataError, match="a column 'species'; if it holds corrected labels"):
        read_ids(file, TRAIN, ("label",))
