"""A table read from disk: the cells of a `.csv` or `.parquet` file, by column.

Texts have no blanks around them and are empty where there is nothing, from either kind of file; CSV has
texts alone, and the numbers and dates of Parquet keep their types.
"""

import csv
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.errors import DataError

_WIDEST = 64
"""Of a cell in an array of one width, which takes 4 bytes a character; no number is longer."""


def read_cells(path: Path) -> dict[str, NDArray[Any]]:
    """The cells of every column, by its name and in the file's order; at least one row."""
    columns = _read_parquet(path) if path.suffix.lower() == ".parquet" else _read_csv(path)
    if not columns or not len(next(iter(columns.values()))):
        raise DataError(f"{path} has no rows.")
    return columns


def _read_csv(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file, strict=True) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise DataError(f"{path} cannot be read as CSV ({problem}).") from None
    header, body = ([name.strip() for name in rows[0]], rows[1:]) if rows else ([], [])
    if len(header) == 1 and (found := next((c for c in ";\t|" if c in header[0]), None)):
        raise DataError(
            f"{path} looks separated by {found!r}: its header is {header[0]!r}; save it with commas."
        )
    if len(set(header)) != len(header):
        raise DataError(f"{path} has two columns of one name in its header: {', '.join(header)}.")
    for number, row in enumerate(body, start=1):
        if len(row) != len(header):
            raise DataError(
                f"{path}: data row {number} has {len(row)} cells, the header has {len(header)}."
            )
    return {name: _texts([row[i].strip() for row in body]) for i, name in enumerate(header)}


def _texts(cells: list[str]) -> NDArray[Any]:
    """A column of texts: of one width, unless a single long cell would make all of them wide."""
    wide = max(map(len, cells), default=0) > _WIDEST
    return np.array(cells, dtype=object if wide else np.str_)


def _read_parquet(path: Path) -> dict[str, NDArray[Any]]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise DataError(
            "Reading Parquet needs pyarrow, which is not installed; "
            "run `pip install 'reweigh[tables]'`."
        ) from None
    try:
        table = parquet.read_table(path)
    except (ArrowException, OSError) as problem:
        raise DataError(f"{path} cannot be read as Parquet ({problem}).") from None
    return {name: _cells(table[name], f"{path}: column {name!r}") for name in table.column_names}


def _cells(column: Any, place: str) -> NDArray[Any]:
    """A column of Parquet as CSV would have given it: an empty text where there is nothing."""
    from pyarrow import float64, string, types

    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_nested(kind) or types.is_binary(kind) or types.is_large_binary(kind):
        raise DataError(f"{place} holds {kind}, not one number, date or text a row; leave it out.")
    if types.is_decimal(kind):
        return column.cast(float64()).to_numpy()
    if types.is_boolean(kind) and column.null_count:
        return np.array([{True: "True", False: "False"}.get(x, "") for x in column.to_pylist()])
    if types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind):
        return _texts([text.strip() for text in column.cast(string()).fill_null("").to_pylist()])
    return column.to_numpy()
