"""A table written to disk: `.csv` that no spreadsheet takes for formulas, or `.parquet`."""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO

from numpy.typing import NDArray

from reweigh import signals
from reweigh.errors import UsageError
from reweigh.replacing import replacing

CHUNK = 100_000
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)

ColumnsOf = Callable[[slice], dict[str, NDArray[Any]]]
"""The columns of some rows, by name and in order."""


def write_columns(columns: ColumnsOf, size: int, path: Path) -> None:
    """Write one row a sample to a `.csv` or `.parquet` file, whole or not at all."""
    check_place(path, tuple(columns(slice(0, 0))))
    signals.check()
    try:
        with replacing(path) as beside:
            _WRITERS[path.suffix.lower()](columns, size, beside)
    except OSError as error:
        raise UsageError(f"Cannot write {path}: {error.strerror or error}.") from error


def check_place(path: Path, names: Sequence[str] = ()) -> None:
    """Refuse what could not be written, before the work is done.

    With the `names` of the columns, a file that is there is renewed if it has just these; another one,
    somebody's data or notes on an audit, stays.
    """
    if path.suffix.lower() not in _WRITERS:
        raise UsageError(f"--out is {path}; expected a name that ends in .csv or .parquet.")
    if path.suffix.lower() == ".parquet" and find_spec("pyarrow") is None:
        raise UsageError(
            "Writing Parquet needs pyarrow, which is not installed; "
            "run `pip install 'reweigh[tables]'`, or name a .csv file."
        )
    if not path.parent.is_dir():
        raise UsageError(f"--out is {path}; there is no folder {path.parent}.")
    if names and path.exists() and (held := _names_in(path)) != list(names):
        other = [name for name in held if name not in names] or held
        raise UsageError(
            f"{path} already exists with other columns ({', '.join(other[:3]) or 'none found'}) and was "
            "not overwritten; choose another --out, or move it."
        )


def _names_in(path: Path) -> list[str]:
    """The columns of a table on disk; none where it is not one."""
    if path.suffix.lower() != ".csv":
        return _names_in_parquet(path)
    try:
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            return next(csv.reader(file), [])
    except (OSError, csv.Error):
        return []


def _names_in_parquet(path: Path) -> list[str]:
    if find_spec("pyarrow") is None:
        return []
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return list(pq.read_schema(path).names)
    except (OSError, pa.ArrowException):
        return []


def plain(text: str) -> str:
    """The text that became `text` by `inert`."""
    return text[1:] if text.startswith("'") and inert(text[1:]) == text else text


def inert(text: str) -> str:
    """A text that no spreadsheet takes for a formula: an apostrophe stands before = + - @.

    Plain numbers stay: −1 and +1 are common classes, and harmless. One that begins with such an
    apostrophe itself gets another, so that `plain` gives every text back.
    """
    bare = text.lstrip("'")
    return f"'{text}" if bare.startswith(_FORMULA) and not _NUMBER.fullmatch(bare) else text


def _parts(size: int) -> Iterator[slice]:
    return (slice(start, min(start + CHUNK, size)) for start in range(0, size, CHUNK))


def print_csv(columns: ColumnsOf, size: int, file: TextIO) -> None:
    """The rows as CSV, into an open file."""
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(map(inert, columns(slice(0, 0))))
    for part in _parts(size):
        signals.check()
        rows.writerows(zip(*map(_cells, columns(part).values()), strict=True))


def _write_csv(columns: ColumnsOf, size: int, path: Path) -> None:
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        print_csv(columns, size, file)


def _cells(column: NDArray[Any]) -> list[Any]:
    """A column as cells: texts made inert, six figures of a number, nothing for NaN."""
    if column.dtype.kind in "UO":  # texts, of one width or each of its own
        return [inert(text) for text in column.tolist()]
    if column.dtype.kind == "f":
        return ["" if x != x else f"{x:.6g}" for x in column.tolist()]
    return column.tolist()


def _write_parquet(columns: ColumnsOf, size: int, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    whole = columns(slice(0, size))
    pq.write_table(
        pa.table({name: pa.array(_sound(column)) for name, column in whole.items()}), path
    )


def _sound(column: NDArray[Any]) -> Any:
    """File names that are no text, as CSV has them, too."""
    if column.dtype.kind not in "UO":
        return column
    return [text.encode(errors="backslashreplace").decode() for text in column.tolist()]


_WRITERS = {".csv": _write_csv, ".parquet": _write_parquet}
