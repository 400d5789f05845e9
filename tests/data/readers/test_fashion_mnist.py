import gzip

import numpy as np
import pytest

from reweigh.data.readers import fashion_mnist
from reweigh.data.sources import load
from reweigh.errors import DataError

from ..files import fashion, idx_gz


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(fashion_mnist, "_DEBIAN", tmp_path / "debian")
    return tmp_path


def test_files_are_found_by_folder_environment_or_system_package(folder, monkeypatch):
    with pytest.raises(DataError, match="reweigh data get fashion-mnist"):
        load("fashion-mnist")
    fashion(folder / "debian")
    source = load("fashion-mnist")
    assert source.train.inputs.shape == (120, 4, 4, 1)
    assert source.train.labels[:11].tolist() == [*range(10), 0]
    assert source.class_names[9] == "ankle boot"
    fashion(folder / "own", train_per_class=2)
    assert len(load("fashion-mnist", folder / "own").train) == 20
    monkeypatch.setenv("REWEIGH_DATA", str(folder / "own"))
    assert len(load("fashion-mnist").train) == 20


def test_damage_gets_one_sentence(folder):
    fashion(folder)
    images = folder / "train-images-idx3-ubyte.gz"
    good = images.read_bytes()
    for bad, sentence in (
        (good[: len(good) // 2], "cannot be read"),
        (b"<html>", "cannot be read"),
        (b"", "is not an idx file"),
        (gzip.compress(b"hello"), "is not an idx file"),
        (gzip.compress(gzip.decompress(good)[:-1]), "holds 1919 values"),
    ):
        images.write_bytes(bad)
        with pytest.raises(DataError, match=sentence):
            load("fashion-mnist", folder)
    idx_gz(images, np.zeros((3, 4, 4), dtype=np.uint8))
    with pytest.raises(DataError, match="3 train images but 120 labels"):
        load("fashion-mnist", folder)
