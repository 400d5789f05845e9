"""Data files as people have them: broken ones are refused in a sentence, odd ones read right."""

import csv
import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from tests.data.files import fashion, idx_gz, npz, python2_pickle, rows, tar_gz
from tests.faults.fault import Fault

from reweigh.data.prepare import DataSpec, prepare
from reweigh.data.samples import Problem
from reweigh.errors import DataError

Make = Callable[[Path], dict[str, Any]]
"""Writes files into a folder and says the `DataSpec` that reads them."""

_BAD: dict[str, tuple[Make, str]] = {}
_ODD: dict[str, Make] = {}


def _bad(name: str, words: str, make: Make) -> None:
    """A case that must be refused with these words."""
    _BAD[name] = make, words


# Arrays.


def _npz(**changes: Any) -> Make:
    return lambda folder: {"data": str(npz(folder / "a.npz", **changes))}


def _raw(name: str, content: bytes) -> Make:
    def make(folder: Path) -> dict[str, Any]:
        (folder / name).write_bytes(content)
        return {"data": str(folder / name)}

    return make


def _harmed(harm: Callable[[bytes], bytes]) -> Make:
    def make(folder: Path) -> dict[str, Any]:
        file = npz(folder / "a.npz")
        file.write_bytes(harm(file.read_bytes()))
        return {"data": str(file)}

    return make


def _npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


_X = np.random.default_rng(5).normal(size=(40, 3))
_TWO, _HTML = np.arange(40) % 2, b"<!DOCTYPE html><html><body>Not here</body></html>"
_bad("npz: empty file", "cannot be read", _raw("a.npz", b""))
_bad("npz: a page in its place", "cannot be read", _raw("a.npz", _HTML))
_bad("npz: lost end", "cannot be read", _harmed(lambda raw: raw[: len(raw) // 2]))
_bad("npz: flipped bytes", "cannot be read", _harmed(lambda raw: raw[:300] + b"??" + raw[302:]))
_bad("npz: a single array", "single array", _raw("a.npz", _npy(_TWO)))
_bad("npz: objects", "cannot be read", _npz(y_train=np.array([{}] * 40, object)))
_bad("npz: no test labels", "no array 'y_test'", _npz(y_test=None))
_bad("npz: label too high", "outside 0..1", _npz(y_test=np.full(20, 7)))
_bad("npz: label below zero", "has label -1", _npz(y_train=np.where(_X[:, 0] > 1, -1, _TWO)))
_bad("npz: a class is left out", "has no training sample", _npz(y_train=_TWO * 2))
_bad("npz: one class", "1 class", _npz(y_train=_TWO * 0, y_test=np.zeros(20, int)))
_bad("npz: NaN", "not finite", _npz(x_train=np.where(_X > 2, np.nan, _X)))
_bad("npz: infinity", "not finite", _npz(x_test=np.full((20, 3), np.inf)))
_bad("npz: another width", "they must be equal", _npz(x_test=np.ones((20, 4))))
_bad("npz: fewer labels", "has shape (39,)", _npz(y_train=_TWO[1:]))
_bad("npz: labels in a column", "has shape (40, 1)", _npz(y_train=_TWO[:, None]))
_bad("npz: labels with fractions", "has type float64", _npz(y_train=_TWO / 2))
_bad("npz: five dimensions", "expected uint8 images", _npz(x_train=np.zeros((40, 1, 1, 1, 1))))
_bad("npz: texts", "expected uint8 images", _npz(x_train=_X.astype(str)))
_bad("npz: no samples", "0 values", _npz(x_train=_X[:0], y_train=_TWO[:0]))
_bad("npz: one sample", "1 class", _npz(x_train=_X[:1], y_train=_TWO[:1]))
_bad("npz: test in train", "train", _npz(x_train=_X, x_test=_X[:20]))


# Tables.


def _table(change: Callable[[list[list[str]]], Any] = lambda table: None) -> bytes:
    table = [["height", "colour", "label"]]
    table += [[f"{x:.3f}", ("red", "blue")[i % 3 % 2], "ab"[i % 2]] for i, (x, *_) in enumerate(_X)]
    change(table)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(table)
    return text.getvalue().encode()


def _cell(row: int, column: int, value: str) -> Callable[[list[list[str]]], None]:
    return lambda table: table[row].__setitem__(column, value)


def _column(name: str, values: Callable[[int], str]) -> Callable[[list[list[str]]], None]:
    def change(table: list[list[str]]) -> None:
        for i, row in enumerate(table):
            row.append(name if i == 0 else values(i))

    return change


def _csv(content: bytes) -> Make:
    return _raw("a.csv", content)


_bad("csv: empty file", "has no rows", _csv(b""))
_bad("csv: header only", "has no rows", _csv(b"height,label\n"))
_bad("csv: no label column", "no label column", _csv(_table(_cell(0, 2, "class"))))
_bad("csv: ragged row", "has 4 cells", _csv(_table(lambda table: table[5].append("x"))))
_bad("csv: a name twice", "two columns of one name", _csv(_table(_cell(0, 1, "height"))))
_bad("csv: open quote", "cannot be read", _csv(_table() + b'1.0,"red,a\n'))
_bad("csv: endless cell", "cannot be read", _csv(_table(_cell(5, 1, "word " * 100_000))))
_bad("csv: gap in labels", "has no label", _csv(_table(_cell(5, 2, " "))))
_bad("csv: a class of one", "would leave none for training", _csv(_table(_cell(1, 2, "c"))))
_bad(
    "csv: unknown split",
    "expected 'train' or 'test'",
    _csv(_table(_column("split", lambda i: "dev"))),
)
_bad("csv: all is test", "no training row", _csv(_table(_column("split", lambda i: "test"))))
_bad("csv: odd flag", "expected true or false", _csv(_table(_column("trusted", lambda i: "maybe"))))
_bad("parquet: a page in its place", "cannot be read as Parquet", _raw("a.parquet", _HTML))


# Images.


def _png(size: int = 4, seed: int = 0) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 255, (size, size), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "png")
    return buffer.getvalue()


def image_folder(**changes: bytes) -> Make:
    def make(folder: Path) -> dict[str, Any]:
        for i in range(24):
            home = folder / "photos" / "ab"[i % 2]
            home.mkdir(parents=True, exist_ok=True)
            name = f"{i:02d}"
            (home / f"{name}.png").write_bytes(changes.get(f"image_{name}", _png(seed=i)))
        return {"data": str(folder / "photos")}

    return make


def _empty_folder(folder: Path) -> dict[str, Any]:
    (folder / "photos" / "a").mkdir(parents=True)
    return {"data": str(folder / "photos")}


_bad("images: empty folder", "has no images", _empty_folder)
_bad("images: a page in its place", "cannot be read as an image", image_folder(image_03=_HTML))
_bad("images: lost end", "cannot be read as an image", image_folder(image_03=_png(64)[:200]))
_bad("images: another size", "must be of one size", image_folder(image_03=_png(5)))


# The named sets.


def _fashion(file: str, change: Callable[[bytes], bytes]) -> Make:
    def make(folder: Path) -> dict[str, Any]:
        fashion(folder / "fashion-mnist")
        path = folder / "fashion-mnist" / f"{file}-ubyte.gz"
        path.write_bytes(change(path.read_bytes()))
        return {"data": "fashion-mnist", "data_dir": folder}

    return make


def _fewer_labels(folder: Path) -> dict[str, Any]:
    spec = _fashion("t10k-labels-idx1", lambda raw: raw)(folder)
    idx_gz(folder / "fashion-mnist" / "t10k-labels-idx1-ubyte.gz", np.zeros(29, np.uint8))
    return spec


def cifar(change: Callable[[dict[str, bytes]], Any]) -> Make:
    def make(folder: Path) -> dict[str, Any]:
        labels = [*range(10)] * 2
        whole = {"labels": labels, "data": rows(labels)}
        members = {f"data_batch_{i}": whole for i in range(1, 6)} | {"test_batch": whole}
        files = {f"cifar-10-batches-py/{n}": python2_pickle(c) for n, c in members.items()}
        change(files)
        tar_gz(folder / "cifar-10-python.tar.gz", files)
        return {"data": "cifar10", "data_dir": folder}

    return make


_TEST_BATCH = "cifar-10-batches-py/test_batch"
_UNLABELLED = python2_pickle({"data": rows([0])})
_bad("idx: lost end", "cannot be read", _fashion("train-images-idx3", lambda raw: raw[:-9]))
_bad("idx: not packed", "cannot be read", _fashion("train-images-idx3", gzip.decompress))
_bad(
    "idx: other bytes",
    "not an idx file",
    _fashion("t10k-images-idx3", lambda _: gzip.compress(_HTML)),
)
_bad("idx: a label less", "30 t10k images but 29 labels", _fewer_labels)
_bad("cifar: a file less", "has no cifar-10", cifar(lambda files: files.pop(_TEST_BATCH)))
_bad(
    "cifar: no labels",
    "not one label a row",
    cifar(lambda f: f.update({_TEST_BATCH: _UNLABELLED})),
)
_bad(
    "cifar: lost end",
    "not an official",
    cifar(lambda f: f.update({_TEST_BATCH: _UNLABELLED[:-99]})),
)


# Labels, trusted samples and noise from files of their own.


def _beside(option: str, name: str, content: bytes, prefix: str = "") -> Make:
    def make(folder: Path) -> dict[str, Any]:
        (folder / name).write_bytes(content)
        path = folder / name
        return {**_npz()(folder), option: f"{prefix}{path}" if prefix else path}

    return make


_LINES = b"0\n1\n" * 20
_bad("labels: a line less", "has 39 labels", _beside("labels", "l.txt", _LINES[2:]))
_bad(
    "labels: unknown class",
    "is not one of the 2 class names",
    _beside("labels", "l.txt", _LINES[2:] + b"x"),
)
_bad(
    "labels: not UTF-8",
    "is not one of the 2 class names",
    _beside("labels", "l.txt", b"\xff\xfe" + _LINES),
)
_bad("labels: an id twice", "twice", _beside("labels", "l.csv", b"id,label\n3,0\n3,1\n"))
_bad("labels: lost end", "cannot be read", _beside("labels", "l.npy", _npy(_TWO)[:90]))
_bad("trusted: no such id", "neither a sample's number", _beside("trusted", "t.txt", b"3\n4000\n"))
_bad("trusted: empty", "", _beside("trusted", "t.txt", b""))
_bad("noise: sums", "rows sum to 1", _beside("noise", "n.csv", b"1,1\n0,1\n", "matrix:"))
_bad("noise: shape", "expected (2, 2)", _beside("noise", "n.csv", b"1,0,0\n0,1,0\n", "matrix:"))
_bad("noise: words", "cannot be read", _beside("noise", "n.csv", b"one,zero\n0,1\n", "matrix:"))

_ODD.update(
    {
        "csv: CRLF": _csv(_table().replace(b"\n", b"\r\n")),
        "csv: byte order mark": _csv(b"\xef\xbb\xbf" + _table()),
        "csv: blank lines": _csv(_table().replace(b"\n", b"\n\n")),
        "csv: blanks, tabs, no-break and zero-width": _csv(
            _table().replace(b"red", "r\u00a0e\u200bd\t".encode())
        ),
        "csv: blanks around labels": _csv(_table().replace(b",a\n", b", a\t\n")),
        "csv: Latin-1": _csv(_table().replace(b"red", "rosé".encode("latin-1"))),
        "csv: UTF-16": _csv(_table().decode().encode("utf-16")),
        "csv: quoted": _csv(_table().replace(b"red", b'"red"')),
        "csv: everything": _csv(_table()),
    }
)


def _refuse(make: Make, words: str, folder: Path) -> None:
    spec = DataSpec(**make(folder))
    try:
        prepare(spec)
    except DataError as error:
        said = str(error)
    else:
        raise AssertionError("nobody noticed")
    assert words in said, said
    assert "\n" not in said.strip()
    assert len(said) < 600


def _content(problem: Problem) -> list[Any]:
    parts = (problem.train, problem.trusted, problem.test)
    return [part.inputs.tolist() + part.labels.tolist() for part in parts]


def _attempt(name: str, folder: Path) -> None:
    if name in _BAD:
        _refuse(*_BAD[name], folder)
        return
    plain = folder / "plain"
    plain.mkdir()
    expected = prepare(DataSpec(**_csv(_table())(plain)))
    found = prepare(DataSpec(**_ODD[name](folder)))
    assert _content(found) == _content(expected)


DATA_FILES = Fault("bad and odd data files", 0, [*_BAD, *_ODD], _attempt)
