"""A table written to disk: `.csv` that no spreadsheet takes for formulas, or `.parquet`."""

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

from numpy.typing import NDArray

from reweigh import signals
from reweigh.errors import DataError, UsageError
from reweigh.replacing import replacing

CHUNK = 100_000
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)

Columns = Callable[[slice], dict[str, NDArray[Any]]]
"""The columns of some rows, by name and in order."""


def write_columns(columns: Columns, size: int, path: Path) -> None:
    """Write one row a sample to a `.csv` or `.parquet` file, whole or not at all."""
    check_place(path)
    signals.check()
    try:
        with replacing(path) as beside:
            _WRITERS[path.suffix.lower()](columns, size, beside)
    except OSError as error:
        raise UsageError(f"Cannot write {path}: {error.strerror or error}.") from error


def check_place(path: Path) -> None:
    """Refuse what could not be written, before the work is done."""
    if path.suffix.lower() not in _WRITERS:
        raise UsageError(f"--out is {path}; expected a name that ends in .csv or .parquet.")
    if not path.parent.is_dir():
        raise UsageError(f"--out is {path}; there is no folder {path.parent}.")


def plain(text: str) -> str:
    """The text that became `text` by `inert`."""
    return text[1:] if text.startswith("'") and inert(text[1:]) == text else text


def inert(text: str) -> str:
    """A text that no spreadsheet takes for a formula: an apostrophe stands before = + - @.

    Plain numbers stay: −1 and +1 are common classes, and harmless.
    """
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def _parts(size: int) -> Iterator[slice]:
    return (slice(start, min(start + CHUNK, size)) for start in range(0, size, CHUNK))


def print_csv(columns: Columns, size: int, file: TextIO) -> None:
    """The rows as CSV, into an open file."""
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(map(inert, columns(slice(0, 0))))
    for part in _parts(size):
        signals.check()
        rows.writerows(zip(*map(_cells, columns(part).values()), strict=True))


def _write_csv(columns: Columns, size: int, path: Path) -> None:
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        print_csv(columns, size, file)


def _cells(column: NDArray[Any]) -> list[Any]:
    """A column as cells: texts made inert, six figures of a number, nothing for NaN."""
    if column.dtype.kind == "U":
        return [inert(text) for text in column.tolist()]
    if column.dtype.kind == "f":
        return ["" if x != x else f"{x:.6g}" for x in column.tolist()]
    return column.tolist()


def _write_parquet(columns: Columns, size: int, path: Path) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise DataError(
            "Writing Parquet needs pyarrow, which is not installed; "
            "run `pip install 'reweigh[tables]'`, or name a .csv file."
        ) from None
    whole = columns(slice(0, size))
    pq.write_table(
        pa.table({name: pa.array(_sound(column)) for name, column in whole.items()}), path
    )


def _sound(column: NDArray[Any]) -> Any:
    """File names that are no text, as CSV has them, too."""
    if column.dtype.kind != "U":
        return column
    return [text.encode(errors="backslashreplace").decode() for text in column.tolist()]


_WRITERS = {".csv": _write_csv, ".parquet": _write_parquet}
