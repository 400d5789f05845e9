"""What a person judges a sample by: a picture, or texts under the names of their columns."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reweigh.audit.run import Audit
from reweigh.config import RunConfig
from reweigh.data.columns import Columns
from reweigh.data.naming import no_features
from reweigh.data.sources import table_of
from reweigh.report.pictures import picture
from reweigh.report.separation import Apart, separation
from reweigh.report.words import shown
from reweigh.training.run import settings_of
from reweigh.training.whereabouts import with_data_found

LONGEST = 400
AT_ONCE = 8
"""Columns that are shown without asking for more."""
MOST_COLUMNS = 200
"""Of a sample on a page, which must open."""


class Cell(NamedTuple):
    """One of a row's."""

    column: int
    """Its place in the table, the same for every row."""
    name: str
    text: str


@dataclass(frozen=True)
class Evidence:
    """Of one sample: the address of an inline picture, or cells, the most telling first."""

    picture: str | None = None
    columns: tuple[Cell, ...] = ()
    more: tuple[Cell, ...] = ()
    left_out: int = 0
    """Columns that are too many for a page."""


@dataclass(frozen=True)
class Texts:
    """The rows of a table behind the training samples."""

    table: Columns
    names: tuple[str, ...]
    """Of the columns to show, in the table's order."""
    rows: NDArray[np.int64]  # (n,), of each training sample
    labels: NDArray[np.int64]  # (n,), given
    classes: int
    form: str = ""
    """How a number is written; empty: in full."""

    def row(self, i: int, given: int, suggested: int) -> Iterator[Cell]:
        """The cells of sample i, those first by which the two classes differ most."""
        apart = [by(given, suggested) for by in self._separations]
        for k in sorted(range(len(apart)), key=lambda k: -apart[k]):
            text = format(self.table.values[self.names[k]][self.rows[i]], self.form).strip()
            yield Cell(k, shown(self.names[k], 40), shown(text, LONGEST))

    @cached_property
    def _separations(self) -> list[Apart]:
        values, commas = self.table.values, self.table.dialect.decimal_commas
        cells = (values[name][self.rows] for name in self.names)
        return [separation(column, self.labels, self.classes, commas) for column in cells]


def texts_of(run: Path, audit: Audit) -> Texts | None:
    """The rows as they were written, or the numbers of an array; None where samples are pictures."""
    config = settings_of(run)
    assert isinstance(config, RunConfig), "its labels were audited"
    samples, classes = audit.samples, len(audit.class_names)
    if samples.inputs.ndim == 4:
        return None
    table = table_of(with_data_found(config, run).data.name)
    if table is None:
        columns = {f"feature {k}": column for k, column in enumerate(samples.inputs.T)}
        table = Columns(columns, Path(config.data.name))
        rows = np.arange(len(samples))
        return Texts(table, tuple(columns), rows, samples.labels, classes, form=".3g")
    aside = no_features(table, config.data.label_column, config.data.id_column)
    names = tuple(name for name in table.names if name not in aside)
    return Texts(table, names, samples.ids, samples.labels, classes)


def evidence(audit: Audit, texts: Texts | None, i: int) -> Evidence:
    """What to show of the sample at position i."""
    if texts is None:
        return Evidence(picture=picture(audit.samples.inputs[i]))
    row = texts.row(i, int(audit.samples.labels[i]), int(audit.predicted[i]))
    cells = tuple(islice(row, MOST_COLUMNS))
    left_out = len(texts.names) - len(cells)
    return Evidence(columns=cells[:AT_ONCE], more=cells[AT_ONCE:], left_out=left_out)
