"""Samples that somebody checked: a file names them and, where they were corrected, has their labels."""

from pathlib import Path

import numpy as np

from reweigh.data.classes import encode
from reweigh.data.ids import Listed, read_ids
from reweigh.data.samples import Samples, Source
from reweigh.errors import DataError


def read_checked(path: Path, source: Source, label_column: str) -> Listed:
    """What a file of checked samples says; labels stand in a column called as the data's own, or `label`."""
    return read_ids(path, source, (label_column, "label"))


def checked_among(among: Samples, listed: Listed, source: Source, others: str) -> Samples:
    """The samples `among` which a file names, in its order; `others` says what one is that is not there."""
    place = {int(i): position for position, i in enumerate(among.ids)}
    missing = [int(i) for i in listed.ids if int(i) not in place]
    if missing or not len(listed.ids):
        what = f"{_called(missing[0], source)}, which is {others}" if missing else "nothing"
        raise DataError(f"{listed.file} names {what}.")
    checked = among.take(np.asarray([place[int(i)] for i in listed.ids]))
    if listed.labels is None:
        return checked
    return checked.with_labels(encode(listed.labels, source.class_names, str(listed.file)))


def _called(number: int, source: Source) -> str:
    """A sample as files name it."""
    counted = source.counted
    (called,) = counted.called()[counted.ids == number].tolist()
    return f"id {called}" if isinstance(called, int) else repr(called)
