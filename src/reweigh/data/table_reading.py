"""A table read from disk: the cells of a `.csv` or `.parquet` file, by column.

Texts have no blanks around them and are empty where there is nothing, from either kind of file; CSV has
texts alone, and the numbers and dates of Parquet keep their types.
"""

import csv
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.data.dialect import Dialect, candidates
from reweigh.errors import DataError

_WIDEST = 64
"""Of a cell in an array of one width, which takes 4 bytes a character; no number is longer."""


def read_cells(path: Path) -> tuple[dict[str, NDArray[Any]], Dialect]:
    """The cells of every column, by its name and in the file's order; at least one row.

    With them, how a CSV file was written.
    """
    if path.suffix.lower() == ".parquet":
        columns, dialect = _read_parquet(path), Dialect()
    else:
        columns, dialect = _read_csv(path)
    if not columns or not len(next(iter(columns.values()))):
        raise DataError(f"{path} has no rows.")
    return columns, dialect


def _read_csv(path: Path) -> tuple[dict[str, NDArray[Any]], Dialect]:
    rows, dialect = _read_rows(path)
    header, body = ([name.strip() for name in rows[0]], rows[1:]) if rows else ([], [])
    _check_header(path, header)
    for number, row in enumerate(body, start=1):
        if len(row) != len(header):
            by = "" if dialect.separator == "," else f" (separated by {dialect.separator!r})"
            raise DataError(
                f"{path}: data row {number} has {len(row)} cells, the header has {len(header)}{by}."
            )
    columns = {name: _texts([row[i].strip() for row in body]) for i, name in enumerate(header)}
    return columns, dialect


def _read_rows(path: Path) -> tuple[list[list[str]], Dialect]:
    """The rows under the first dialect that makes them all as long as the header, else under the first."""
    try:
        likely = candidates(path)
        for dialect in likely:
            with suppress(csv.Error):  # quotes that make sense with another mark only
                rows = list(dialect.rows(path))
                if all(len(row) == len(rows[0]) for row in rows):
                    return rows, dialect
        return list(likely[0].rows(path)), likely[0]
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise DataError(f"{path} cannot be read as CSV ({problem}).") from None


def _check_header(path: Path, header: list[str]) -> None:
    if len(header) == 1 and "|" in header[0]:
        raise DataError(
            f"{path} looks separated by '|': its header is {header[0]!r}; save it with commas, "
            "semicolons or tabs."
        )
    if len(set(header)) != len(header):
        raise DataError(f"{path} has two columns of one name in its header: {', '.join(header)}.")


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
    bytes_ = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    if types.is_nested(kind) or any(of_bytes(kind) for of_bytes in bytes_):
        raise DataError(f"{place} holds {kind}, not one number, date or text a row; leave it out.")
    if types.is_decimal(kind):
        return column.cast(float64()).to_numpy()
    if types.is_boolean(kind) and column.null_count:
        return np.array([{True: "True", False: "False"}.get(x, "") for x in column.to_pylist()])
    if types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind):
        return _texts([text.strip() for text in column.cast(string()).fill_null("").to_pylist()])
    return column.to_numpy()
