"""The trusted set: a few samples whose labels are right, and apart from the training set.

It comes from the source itself (a folder, a column, arrays), from a file, or N per class are split
off the training set before noise is planted. The split depends on the seed alone: every method and
every noise setting under one seed has the same trusted set.
"""

from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from reweigh.data.checked import checked_among, read_checked
from reweigh.data.checks import check_samples
from reweigh.data.ids import Listed
from reweigh.data.npz import read_npz
from reweigh.data.overlap import drop_copies, refuse_copies
from reweigh.data.readers.arrays import samples_of
from reweigh.data.samples import Samples, Source, joined
from reweigh.data.seeds import generator
from reweigh.data.splits import per_class
from reweigh.errors import DataError, UsageError

_MOST_PER_CLASS, _MOST_IN_ALL, _LARGEST_SHARE = 100, 1000, 0.1

Trusted: TypeAlias = Listed | Samples | int | None
"""What the settings say of it: samples that a file names or brings, a number per class, or nothing."""


def read_trusted(
    source: Source, path: Path | None, number: int | None, label_column: str = "label"
) -> Trusted:
    """What a file says of the trusted set, or the `number` per class.

    `path` is a file of training ids (`.txt`, `.npy`, or `.csv` with id and, where they were
    corrected, label, or the table's `label_column`) or an `.npz` with `x_trusted, y_trusted`.
    """
    given = [source.trusted is not None, path is not None, number is not None]
    if sum(given) > 1:
        raise UsageError(
            "The trusted set is given twice; keep one of: the data's own trusted part, a trusted "
            "file, a number per class."
        )
    if path is None:
        return number
    if path.suffix.lower() == ".npz":
        return _read_npz(path, source)
    return read_checked(path, source, label_column)


def split_trusted(
    source: Source, train: Samples, who: Trusted, seed: int
) -> tuple[Samples, Samples]:
    """The training set without copies of trusted samples, and the trusted set.

    Samples given apart must not occur in train or test; those taken out of train take their copies
    with them (see `overlap`).
    """
    if source.trusted is not None:
        return train, _apart(source.trusted, train, source)
    if isinstance(who, Samples):
        return train, _apart(who, train, source)
    if isinstance(who, Listed):
        others = "no training sample (or a copy of a test sample)"
        trusted = checked_among(train, who, source, others)
    else:
        trusted = _drawn(train, source, who, seed)
    return drop_copies(train, trusted), trusted


def with_trusted_in_train(source: Source, listed: Listed) -> Source:
    """Samples that a file names as trusted leave a test set that *we* held out.

    Which samples fall into it nobody could know when writing the file. Their copies come along.
    """
    if source.split != "ours":
        return source
    hashes = source.test.content_hashes()
    named = np.isin(hashes, hashes[np.isin(source.test.ids, listed.ids)])
    train = joined(source.train, source.test.take(named))
    return replace(source, train=train, test=source.test.take(~named))


def default_number(labels: np.ndarray, num_classes: int) -> int:
    """How many trusted samples per class, if nobody says.

    100, at most 1,000 in all (so 100 for CIFAR-10 and 10 for CIFAR-100, as Meta-Weight-Net has),
    and at most a tenth of the smallest class.
    """
    smallest = int(np.bincount(labels, minlength=num_classes).min())
    share = int(_LARGEST_SHARE * smallest)
    return max(1, min(_MOST_PER_CLASS, _MOST_IN_ALL // num_classes, share))


def _apart(trusted: Samples, train: Samples, source: Source) -> Samples:
    check_samples(trusted, "trusted", source)
    refuse_copies(trusted, train, "trusted", "train")
    refuse_copies(trusted, source.test, "trusted", "test")
    return trusted


def _read_npz(path: Path, source: Source) -> Samples:
    if source.encoding is not None:
        raise DataError(
            f"{path} holds numbers, and a student sees the columns of a table as its training rows "
            f"encode them; mark the table's trusted rows in a column 'trusted', or list their ids."
        )
    arrays = read_npz(path)
    if "x_trusted" not in arrays:
        raise DataError(f"{path} has no array 'x_trusted' (it has {', '.join(arrays) or 'none'}).")
    return samples_of(arrays, "trusted", source.class_names, path)


def _drawn(train: Samples, source: Source, number: int | None, seed: int) -> Samples:
    num_classes = len(source.class_names)
    n = default_number(train.labels, num_classes) if number is None else number
    if n < 1:
        raise UsageError(f"The trusted set has {n} samples per class; expected at least 1.")
    counts = np.bincount(train.labels, minlength=num_classes)
    if counts.min() <= n:
        c = int(counts.argmin())
        fewer = "lower the number per class (data.trusted_per_class)"
        other = "name trusted samples by data.trusted, or leave the class out"
        way = fewer if n > 1 and counts[c] > 1 else other
        raise DataError(
            f"Class {source.class_names[c]!r} has {counts[c]} training samples; taking {n} as trusted "
            f"would leave none for training: {way}."
        )
    return train.take(per_class(train.labels, [n] * num_classes, generator(seed, "trusted split")))
