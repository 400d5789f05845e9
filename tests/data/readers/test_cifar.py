import numpy as np
import pytest

from reweigh.data.sources import load
from reweigh.errors import DataError

from ..files import python2_pickle, rows, tar_gz

LABELS = [list(range(10)) for _ in range(6)]
NAMES = [f"name{c}" for c in range(10)]


def binary10():
    files = {"cifar-10-batches-bin/batches.meta.txt": "\n".join(NAMES).encode() + b"\n\n"}
    for i, labels in enumerate(LABELS):
        name = "test_batch" if i == 5 else f"data_batch_{i + 1}"
        column = np.asarray(labels, dtype=np.uint8)[:, None]
        records = np.concatenate([column, rows(labels, seed=i)], axis=1)
        files[f"cifar-10-batches-bin/{name}.bin"] = records.tobytes()
    return files


def pickled10():
    files = {"cifar-10-batches-py/batches.meta": python2_pickle({"label_names": NAMES})}
    for i, labels in enumerate(LABELS):
        name = "test_batch" if i == 5 else f"data_batch_{i + 1}"
        content = {"labels": labels, "data": rows(labels, seed=i)}
        files[f"cifar-10-batches-py/{name}"] = python2_pickle(content)
    return files


def put(folder, files):
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def test_all_four_forms_give_the_same_samples(tmp_path):
    put(tmp_path / "a", binary10())
    put(tmp_path / "b", pickled10())
    tar_gz(tmp_path / "c" / "cifar10" / "cifar-10-binary.tar.gz", binary10())
    tar_gz(tmp_path / "d" / "cifar-10-python.tar.gz", pickled10())
    first, *others = (load("cifar10", tmp_path / name) for name in "abcd")
    assert first.class_names == tuple(NAMES)
    assert first.train.inputs.shape == (50, 32, 32, 3)
    red = rows(LABELS[1], seed=1)[3, :1024].reshape(32, 32)
    np.testing.assert_array_equal(first.train.inputs[13, :, :, 0], red)
    for other in others:
        assert other.class_names == first.class_names
        for part in ("train", "test"):
            ours, theirs = getattr(first, part), getattr(other, part)
            np.testing.assert_array_equal(ours.inputs, theirs.inputs)
            np.testing.assert_array_equal(ours.labels, theirs.labels)


def test_cifar100_has_the_fine_labels(tmp_path):
    fine = list(range(100))
    pixels, tests = rows(fine), rows(fine, seed=1)
    record = [np.asarray([[7, c] for c in fine], dtype=np.uint8), pixels]
    test = [np.asarray([[7, c] for c in fine], dtype=np.uint8), tests]
    put(tmp_path / "a", {
        "cifar-100-binary/train.bin": np.concatenate(record, axis=1).tobytes(),
        "cifar-100-binary/test.bin": np.concatenate(test, axis=1).tobytes(),
    })  # fmt: skip
    content = {"coarse_labels": [7] * 100, "fine_labels": fine}
    put(tmp_path / "b", {
        "cifar-100-python/train": python2_pickle(content | {"data": pixels}),
        "cifar-100-python/test": python2_pickle(content | {"data": tests}),
    })  # fmt: skip
    hashes = []
    for name in "ab":
        source = load("cifar100", tmp_path / name)
        assert source.train.labels.tolist() == fine
        assert len(source.class_names) == 100
        hashes.append(source.train.content_hashes())
    np.testing.assert_array_equal(*hashes)


@pytest.mark.parametrize(
    ("files", "name", "damage", "sentence"),
    [
        (binary10, "data_batch_2.bin", lambda d: d[:-1], "not a multiple of 3073"),
        (binary10, "test_batch.bin", lambda d: b"", "has 0 bytes"),
        (binary10, "data_batch_1.bin", lambda d: b"\x0a" + d[1:], "has label 10"),
        (binary10, "batches.meta.txt", lambda d: d[:9], "names 2 classes instead"),
        (pickled10, "data_batch_3", lambda d: d[:-99], "not an official CIFAR file"),
        (pickled10, "test_batch", lambda d: python2_pickle({"labels": [1]}), "no rows of 3072"),
        (pickled10, "test_batch",
         lambda d: python2_pickle({"labels": [1], "data": rows([1, 2])}), "not one label a row"),
    ],
)  # fmt: skip
def test_damage_gets_one_sentence(tmp_path, files, name, damage, sentence):
    content = files()
    (name,) = (key for key in content if key.endswith(f"/{name}"))
    put(tmp_path, content | {name: damage(content[name])})
    with pytest.raises(DataError, match=sentence):
        load("cifar10", tmp_path)


def test_a_missing_member_is_named(tmp_path):
    content = binary10()
    del content["cifar-10-batches-bin/data_batch_4.bin"]
    put(tmp_path, content)
    with pytest.raises(DataError, match=r"has no cifar-10-batches-bin/data_batch_4\.bin"):
        load("cifar10", tmp_path)
