"""CIFAR-10 and CIFAR-100 (Krizhevsky 2009), from any of their official forms.

The binary archive is the one to have (fixed-size records, nothing to execute); the pickled one is
what most people have, and is read without unpickling (see `inert_pickle`). Both forms give the
same samples. Each may be an archive or the extracted folder.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.data.archives import read_members
from reweigh.data.inert_pickle import read_pickle
from reweigh.data.places import find
from reweigh.data.samples import Samples, Source, numbered
from reweigh.errors import DataError

_PIXELS = 3 * 32 * 32


@dataclass(frozen=True)
class _Form:
    """One official form: its archive, its folder, and the members that matter."""

    archive: str
    folder: str
    train: tuple[str, ...]
    test: str
    meta: str


@dataclass(frozen=True)
class _Kind:
    """What differs between the two sets."""

    name: str
    num_classes: int
    label_bytes: int
    """Leading bytes of a binary record; the class is the last of them."""
    label_key: str
    names_key: str
    binary: _Form
    pickled: _Form


_FIVE = tuple(f"data_batch_{i}" for i in range(1, 6))
CIFAR10 = _Kind(
    "cifar10", 10, 1, "labels", "label_names",
    _Form("cifar-10-binary.tar.gz", "cifar-10-batches-bin",
          tuple(f"{name}.bin" for name in _FIVE), "test_batch.bin", "batches.meta.txt"),
    _Form("cifar-10-python.tar.gz", "cifar-10-batches-py", _FIVE, "test_batch", "batches.meta"),
)  # fmt: skip
CIFAR100 = _Kind(
    "cifar100", 100, 2, "fine_labels", "fine_label_names",
    _Form("cifar-100-binary.tar.gz", "cifar-100-binary",
          ("train.bin",), "test.bin", "fine_label_names.txt"),
    _Form("cifar-100-python.tar.gz", "cifar-100-python", ("train",), "test", "meta"),
)  # fmt: skip


def read(kind: _Kind, data_dir: Path | None = None) -> Source:
    """Train and test in the official order, 32x32 in colour."""
    wanted = [n for form in (kind.binary, kind.pickled) for n in (form.folder, form.archive)]
    place = find(kind.name, wanted, data_dir)
    form = kind.binary if place.name in wanted[:2] else kind.pickled
    files = _members(place, form)
    decode = _decode_records if form is kind.binary else _decode_pickle
    return Source(
        train=_join([decode(files[name], name, kind) for name in form.train]),
        test=_join([decode(files[form.test], form.test, kind)]),
        class_names=_class_names(files.get(form.meta), kind, form),
        kind="image",
        split="official",
    )


def _members(place: Path, form: _Form) -> dict[str, bytes]:
    needed = {f"{form.folder}/{name}": name for name in (*form.train, form.test, form.meta)}
    files = {needed[name]: data for name, data in read_members(place, needed).items()}
    for name in (*form.train, form.test):
        if name not in files:
            raise DataError(f"{place} has no {form.folder}/{name}; fetch it again.")
    return files


def _decode_records(data: bytes, name: str, kind: _Kind) -> tuple[NDArray[Any], NDArray[Any]]:
    size = kind.label_bytes + _PIXELS
    if not data or len(data) % size:
        raise DataError(
            f"{kind.name}: {name} has {len(data)} bytes, not a multiple of {size}; fetch it again."
        )
    records = np.frombuffer(data, dtype=np.uint8).reshape(-1, size)
    return records[:, kind.label_bytes :], records[:, kind.label_bytes - 1]


def _decode_pickle(data: bytes, name: str, kind: _Kind) -> tuple[NDArray[Any], NDArray[Any]]:
    content = read_pickle(data, f"{kind.name}: {name}")
    rows, labels = content.get("data"), content.get(kind.label_key)
    if not isinstance(rows, np.ndarray) or rows.shape[1:] != (_PIXELS,):
        raise DataError(f"{kind.name}: {name} holds no rows of {_PIXELS} pixels; fetch it again.")
    if not isinstance(labels, list) or len(labels) != len(rows):
        raise DataError(f"{kind.name}: {name} has not one label a row; fetch it again.")
    return rows, np.asarray(labels)


def _join(parts: list[tuple[NDArray[Any], NDArray[Any]]]) -> Samples:
    rows = np.concatenate([rows for rows, _ in parts])  # (n, 3072), channels first
    images = rows.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)  # (n, 32, 32, 3)
    labels = np.concatenate([labels for _, labels in parts]).astype(np.int64)
    return numbered(np.ascontiguousarray(images), labels)


def _class_names(meta: bytes | None, kind: _Kind, form: _Form) -> tuple[str, ...]:
    """The names in the meta file; plain numbers where it is missing."""
    if meta is None:
        names = [str(c) for c in range(kind.num_classes)]
    elif form is kind.binary:
        names = meta.decode("ascii", "replace").split()
    else:
        names = read_pickle(meta, f"{kind.name}: {form.meta}").get(kind.names_key, [])
    if len(names) != kind.num_classes:
        raise DataError(
            f"{kind.name}: {form.meta} names {len(names)} classes instead of {kind.num_classes}."
        )
    return tuple(names)
