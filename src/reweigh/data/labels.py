"""Labels from a separate file, so that anybody's noisy labels drop in.

    labels.txt   one label a line            labels.npy   one number (or name) a sample
    labels.csv   one column, or id,label     where id is a sample's number or its name (see `ids`)

A label is a class name or a class number. Without ids the file has one label for every sample the
training ids count (for a table that we split, every row of the table). With ids it may name only
some samples; the others keep theirs, as do those whose label is empty: nobody looked at them.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reweigh.data.classes import encode
from reweigh.data.columns import Columns
from reweigh.data.ids import as_written, labelled, one_a_sample
from reweigh.data.samples import Indices, Labels, Samples, Source
from reweigh.errors import DataError


@dataclass(frozen=True)
class NewLabels:
    """Labels that a file gives to the samples of these ids."""

    file: Path
    ids: Indices  # (m,)
    labels: Labels  # (m,)
    named: bool
    """Whether the file names its samples, or has a label for every one."""
    remarks: tuple[str, ...] = ()
    """How the file was written, where that is worth a word."""

    def put_on(self, samples: Samples) -> Samples:
        """The samples under their new labels; those without one keep theirs."""
        labels, order = samples.labels.copy(), np.argsort(samples.ids)
        place = np.searchsorted(samples.ids, self.ids, sorter=order).clip(max=len(samples) - 1)
        known = samples.ids[order[place]] == self.ids
        labels[order[place[known]]] = self.labels[known]
        return samples.with_labels(labels)


def read_labels(path: Path, source: Source) -> NewLabels:
    """The labels of a file; it may name samples that were held out, too."""
    columns = Columns.read(path) if path.suffix.lower() == ".csv" else None
    ids, texts = (None, one_a_sample(path)) if columns is None else _read(columns, source)
    remarks = () if columns is None else columns.remarks()
    labels = encode(texts, source.class_names, str(path))
    if ids is not None:
        return NewLabels(path, ids, labels, True, remarks)
    if len(labels) != (expected := len(source.counted) + source.repeats):
        raise DataError(
            f"{path} has {len(labels)} labels but the data has {expected} samples to label; give "
            f"one a sample, or a CSV with the columns id,label."
        )
    return NewLabels(path, np.arange(len(labels)), labels, False, remarks)


def _read(columns: Columns, source: Source) -> tuple[Indices | None, NDArray[np.str_]]:
    if len(columns.names) == 1:
        return None, as_written(columns.labels(columns.names[0]))
    if "label" not in columns.names:
        raise DataError(
            f"{columns.origin} has the columns {', '.join(columns.names)}; expected id,label or one column."
        )
    return labelled(columns, "label", source)
