"""Rows that a table has more than once, id and all, as joins and appended exports leave them."""

import numpy as np
from numpy.typing import NDArray

from reweigh.data.columns import Columns
from reweigh.errors import DataError

Rows = NDArray[np.bool_]  # (n,)


def repeats(columns: Columns, key: str) -> tuple[Rows, Rows]:
    """Rows that equal the first one of their id in all columns, and rows that differ from it."""
    _, first, inverse = np.unique(columns.texts(key), return_index=True, return_inverse=True)
    first = first[inverse.reshape(-1)]  # (n,), the first row of the same id
    later = first != np.arange(len(first))
    other = np.zeros(len(first), dtype=bool)
    for name in columns.names if later.any() else ():
        cells = columns.values[name]
        cells = cells if cells.dtype.kind in "UO" else columns.texts(name)  # NaN equals NaN
        other |= cells != cells[first]
    return later & ~other, other


def rows_again(columns: Columns, key: str) -> Rows:
    """Rows that count once with the first of their id; different rows of one id are refused."""
    again, other = repeats(columns, key)
    if other.any():
        ids = np.unique(columns.texts(key)[other])
        raise DataError(
            f"{columns.origin} has different rows of one {key} ({len(ids)} such ids, {str(ids[0])!r} the "
            "first); give each its own, or name the column that tells them apart: --set "
            "data.id_column=NAME."
        )
    return again
