import numpy as np
import pytest

from reweigh.data.sources import load
from reweigh.errors import DataError

from ..files import npz


def read(tmp_path, **changes):
    return load(str(npz(tmp_path / "d.npz", **changes)))


def test_tables_images_names_and_trusted(tmp_path):
    table = read(tmp_path, x_trusted=np.ones((2, 3)), y_trusted=[0, 1])
    assert table.kind == "table"
    assert table.train.inputs.dtype == np.float32
    assert len(table.trusted) == 2
    grey = np.random.default_rng(0).integers(0, 255, (40, 6, 5), dtype=np.uint8)
    images = read(tmp_path, x_train=grey, x_test=grey[:20], class_names=["no", "yes"])
    assert images.kind == "image"
    assert images.train.inputs.shape == (40, 6, 5, 1)
    assert images.class_names == ("no", "yes")
    named = read(tmp_path, y_train=np.asarray(["b", "a"] * 20), y_test=np.asarray(["a"] * 20))
    assert named.class_names == ("a", "b")
    assert named.train.labels[:2].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"x_test": None}, "has no array 'x_test'"),
        ({"y_train": np.zeros(39, int)}, r"y_train has shape \(39,\), expected \(40,\)"),
        ({"y_train": np.ones(40)}, "y_train has type float64"),
        ({"y_train": np.ones(40, int)}, r"Class 0 \('0'\) has no training sample"),
        ({"y_train": np.zeros(40, int), "y_test": np.zeros(20, int)}, "at least two"),
        ({"y_train": np.array([0, 10**12] * 20)}, "label 1000000000000 among 40 samples; number"),
        ({"class_names": ["a", "a"]}, "class_names has 'a' twice"),
        ({"y_test": np.full(20, 5)}, "test sample 0 has label 5"),
        ({"x_train": np.full((40, 3), np.nan)}, "not finite"),
        ({"x_train": np.ones((40, 2, 2))}, "type float64 and shape"),
        ({"x_train": np.ones((40, 4))}, "test sample has shape"),
        ({"x_train": np.asarray([{}] * 40, dtype=object)}, "cannot be read as .npz"),
        ({"x_trusted": np.ones((2, 3))}, "has x_trusted but no y_trusted"),
        ({"x_test": np.ones((0, 3)), "y_test": np.zeros(0, int)}, "test set is empty"),
    ],
)
def test_bad_arrays_get_one_sentence(tmp_path, changes, sentence):
    with pytest.raises(DataError, match=sentence):
        read(tmp_path, **changes)


@pytest.mark.parametrize("content", [b"", b"PK", b"rubbish" * 9])
def test_unreadable_files_get_one_sentence(tmp_path, content):
    (tmp_path / "d.npz").write_bytes(content)
    with pytest.raises(DataError, match=r"cannot be read as \.npz"):
        load(str(tmp_path / "d.npz"))


def test_flipped_bits_are_noticed(tmp_path):
    path = npz(tmp_path / "d.npz")
    data = bytearray(path.read_bytes())
    data[300] ^= 1
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"cannot be read as \.npz"):
        load(str(path))
