"""Training labels from a separate file, so that anybody's noisy labels drop in.

    labels.txt   one label a line            labels.npy   one number (or name) a sample
    labels.csv   one column, or id,label     where id is a sample's number or its name (see `ids`)

A label is a class name or a class number. Without ids the file has one label for every sample the
training ids count (for a table that we split, every row of the table). With ids it may name only
some samples; the others keep theirs.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reweigh.data.classes import encode
from reweigh.data.columns import Columns
from reweigh.data.ids import as_written, ids_in, one_a_sample
from reweigh.data.samples import Indices, Labels, Samples, Source
from reweigh.errors import DataError


def read_labels(path: Path, train: Samples, source: Source) -> Labels:
    """The labels of `train` after those of the file took the place of its own.

    The file may name samples that were held out, too.
    """
    ids, texts = _read(path, source)
    numbers = encode(texts, source.class_names, str(path))
    if ids is not None:
        return _replace(train, ids, numbers)
    if len(numbers) != (expected := len(source.counted)):
        raise DataError(
            f"{path} has {len(numbers)} labels but the data has {expected} samples to label; give "
            f"one a sample, or a CSV with the columns id,label."
        )
    return numbers[train.ids]


def _read(path: Path, source: Source) -> tuple[Indices | None, NDArray[np.str_]]:
    if path.suffix.lower() != ".csv":
        return None, one_a_sample(path)
    columns = Columns.read(path)
    if len(columns.names) == 1:
        return None, as_written(columns.labels(columns.names[0]))
    if "label" not in columns.names:
        raise DataError(
            f"{path} has the columns {', '.join(columns.names)}; expected id,label or one column."
        )
    return ids_in(columns, source), as_written(columns.labels("label"))


def _replace(train: Samples, ids: Indices, numbers: Labels) -> Labels:
    """Labels of samples that are not in `train` (trusted ones, say) have nowhere to go."""
    labels, order = train.labels.copy(), np.argsort(train.ids)
    place = np.searchsorted(train.ids, ids, sorter=order).clip(max=len(train) - 1)
    known = train.ids[order[place]] == ids
    labels[order[place[known]]] = numbers[known]
    return labels
