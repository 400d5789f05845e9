"""Tiny data files in their official forms, for the readers' tests."""

import gzip
import io
import struct
import tarfile
from pathlib import Path

import numpy as np


def rows(labels, width=3072, seed=0):
    """Distinct random pixel rows, one a label."""
    return np.random.default_rng(seed).integers(0, 256, (len(labels), width), dtype=np.uint8)


def python2_pickle(content):
    """`content` as Python 2's protocol 2 wrote it: byte strings, and arrays by `_reconstruct`."""
    return b"\x80\x02" + _emit(content) + b"."


def _emit(value):
    if isinstance(value, dict):
        body = b"".join(_emit(k) + _emit(v) for k, v in value.items())
        return b"}q\x01(" + body + b"u"
    if isinstance(value, list):
        return b"]q\x02(" + b"".join(_emit(item) for item in value) + b"e"
    if isinstance(value, str):
        return b"U" + bytes([len(value)]) + value.encode() + b"r\xff\x00\x00\x00"
    if isinstance(value, int):
        return b"K" + bytes([value]) if value < 256 else b"M" + struct.pack("<H", value)
    return _emit_array(value)


def _emit_array(array):
    height, width = (b"M" + struct.pack("<H", size) for size in array.shape)
    return (
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01"
        + height + width + b"\x86cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R"
        + b"(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T"
        + struct.pack("<I", array.size) + array.tobytes() + b"tb"
    )  # fmt: skip


def tar_gz(path: Path, members: dict[str, bytes], extra=()):
    """An archive of regular files, after the `extra` members given as (TarInfo, bytes)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for info, data in extra:
            archive.addfile(info, io.BytesIO(data))
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def idx_gz(path: Path, array):
    """A gzipped idx file of bytes."""
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(head + array.tobytes(), 1))


def fashion(folder: Path, train_per_class=12, test_per_class=3, size=4):
    """A small Fashion-MNIST; returns its train images and labels."""
    for part, n, seed in (("train", train_per_class, 1), ("t10k", test_per_class, 2)):
        labels = np.tile(np.arange(10, dtype=np.uint8), n)
        images = rows(labels, size * size, seed).reshape(-1, size, size)
        idx_gz(folder / f"{part}-images-idx3-ubyte.gz", images)
        idx_gz(folder / f"{part}-labels-idx1-ubyte.gz", labels)


def npz(path: Path, n=40, num_classes=2, width=3, **changes):
    """A table in an `.npz` file: every array can be replaced or (None) left out."""
    rng = np.random.default_rng(0)
    arrays = {
        "x_train": rng.normal(size=(n, width)),
        "y_train": np.arange(n) % num_classes,
        "x_test": rng.normal(size=(n // 2, width)),
        "y_test": np.arange(n // 2) % num_classes,
    }
    arrays |= changes
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path
