"""What data is, once read: labelled samples, a source of them, and a problem to learn.

A `Source` is what a reader found; a `Problem` is what a training run gets, after the trusted set
was split off and noise was planted.
"""

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reweigh.data.columns import Columns
from reweigh.data.encoding import Encoding
from reweigh.data.readings import Reading

Labels: TypeAlias = NDArray[np.int64]  # (n,), classes 0..K-1
Indices: TypeAlias = NDArray[np.int64]  # (m,), positions
Hashes: TypeAlias = NDArray[np.uint64]  # (n,), one per sample
Kind: TypeAlias = Literal["image", "table"]
Split: TypeAlias = Literal["official", "ours", "given", "listed"]


@dataclass(frozen=True)
class Samples:
    """Inputs with their labels, and where each one came from.

    `ids` are positions in the source the sample was read from, and stay with it through every
    selection; `names` are file names or row keys where there are any.
    """

    inputs: NDArray[Any]  # (n, h, w, c) uint8 for images, (n, d) float32 for tables
    labels: Labels  # (n,)
    ids: NDArray[np.int64]  # (n,)
    names: NDArray[np.str_] | None = None  # (n,)

    def __post_init__(self) -> None:
        lengths = {len(self.inputs), len(self.labels), len(self.ids)}
        lengths |= set() if self.names is None else {len(self.names)}
        assert len(lengths) == 1, f"inputs, labels, ids and names differ in length: {lengths}"

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, indices: NDArray[Any]) -> "Samples":
        """The samples at these positions (or where this mask is true), in that order."""
        names = None if self.names is None else self.names[indices]
        return Samples(self.inputs[indices], self.labels[indices], self.ids[indices], names)

    def with_labels(self, labels: Labels) -> "Samples":
        """The same samples under other labels."""
        return Samples(self.inputs, labels, self.ids, self.names)

    def called(self) -> NDArray[np.str_] | NDArray[np.int64]:
        """What files of labels, of trusted and of dropped samples call each one, (n,).

        Its name, if no other has it, else its number: where names are numbers themselves, a
        number would be taken for a name.
        """
        if self.names is None or len(np.unique(self.names)) < len(self.names):
            return self.ids
        return self.names

    def content_hashes(self) -> Hashes:
        """A 64-bit hash of each input's bytes, labels left out: equal inputs, equal hashes.

        Two *different* inputs among ten million collide with probability 3e-6.
        """
        if not len(self):
            return np.empty(0, dtype=np.uint64)
        rows = np.ascontiguousarray(self.inputs).reshape(len(self), -1).view(np.uint8)  # (n, bytes)
        digests = b"".join(blake2b(row.data, digest_size=8).digest() for row in rows)
        return np.frombuffer(digests, dtype=np.uint64)


@dataclass(frozen=True)
class Source:
    """Everything a reader found.

    `split` says who drew the line between train and test: the data set's authors (`official`),
    a reader of ours, or the user, in the data (`given`) or by a file of ids (`listed`); the rule for
    copies depends on it (see `overlap`).
    """

    train: Samples
    test: Samples
    class_names: tuple[str, ...]
    kind: Kind
    split: Split
    trusted: Samples | None = None
    encoding: Encoding | None = None
    """Of a table: how its columns became numbers."""
    readings: tuple[Reading, ...] = ()
    """Of a table: how each of its columns is read."""
    remarks: tuple[str, ...] = ()
    """How a file was written, where it was found out by its text."""
    table: Columns | None = None
    """Of a table, or a list of images: its columns as they were written; ids are its rows."""
    id_column: str | None = None
    """Of a table: the column that names its rows, where one does."""
    repeats: int = 0
    """Of a table: how many rows repeat another one, id and all, and are no samples of their own."""

    @property
    def counted(self) -> Samples:
        """The samples that the training ids are positions among, without their inputs.

        Parts cut from one whole share its numbering, and so have no id in common; parts that
        were read apart each count from 0.
        """
        parts = [self.train]
        for part in filter(None, (self.test, self.trusted)):
            if not any(np.isin(part.ids, one.ids).any() for one in parts):
                parts.append(part)
        names = [part.names for part in parts if part.names is not None]
        ids = np.concatenate([part.ids for part in parts])
        return Samples(
            inputs=np.empty((len(ids), 0)),
            labels=np.concatenate([part.labels for part in parts]),
            ids=ids,
            names=np.concatenate(names) if len(names) == len(parts) else None,
        )


@dataclass(frozen=True)
class Problem:
    """A training set of doubtful labels, a small trusted set and a test set, mutually disjoint."""

    train: Samples
    trusted: Samples
    test: Samples
    class_names: tuple[str, ...]
    kind: Kind
    true_labels: Labels | None
    """Of the training samples: what they were before planted noise; None where nobody knows."""
    record: dict[str, Any]
    """What was done, with seeds and counts; ready for JSON."""
    cautions: tuple[str, ...] = ()
    """What to know before believing a figure (see `cautions`)."""
    encoding: Encoding | None = None
    """Of a table: how its columns became numbers."""
    readings: tuple[Reading, ...] = ()
    """Of a table: how each of its columns is read."""
    mixed_in: int = 0
    """How many training samples are trusted ones: the last so many."""

    def trusted_alone(self) -> "Problem":
        """The trusted samples in place of the training set; their labels are right."""
        n = len(self.trusted)
        return replace(self, train=self.trusted, true_labels=None, mixed_in=n)

    def with_trusted(self, copies: int = 1) -> "Problem":
        """Training samples, then the trusted ones `copies` times, as a training set."""
        more = self.trusted.take(np.tile(np.arange(len(self.trusted)), copies))
        known = self.true_labels
        true = None if known is None else np.concatenate([known, more.labels])
        return replace(self, train=joined(self.train, more), true_labels=true, mixed_in=len(more))

    def put_right(self) -> "Problem | None":
        """The training set under its true labels; None where nobody knows them."""
        if self.true_labels is None:
            return None
        return replace(self, train=self.train.with_labels(self.true_labels))


def joined(a: Samples, b: Samples) -> Samples:
    """The samples of both, in this order."""
    names = [part.names for part in (a, b) if part.names is not None]
    return Samples(
        inputs=np.concatenate([a.inputs, b.inputs]),
        labels=np.concatenate([a.labels, b.labels]),
        ids=np.concatenate([a.ids, b.ids]),
        names=np.concatenate(names) if len(names) == 2 else None,
    )


def numbered(
    inputs: NDArray[Any], labels: Labels, names: NDArray[np.str_] | None = None
) -> Samples:
    """Samples in the order of their source: ids 0..n-1."""
    return Samples(inputs, labels, np.arange(len(labels), dtype=np.int64), names)
