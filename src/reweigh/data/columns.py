"""A table as named columns, and the columns that say which part a row belongs to."""

import csv
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.data.samples import Kind, Samples, Source
from reweigh.data.splits import hold_out_test
from reweigh.errors import DataError

ID = "id"
GAPS = ("na", "n/a", "null", "none", "?", "-")
"""What stands for an empty cell where all others are numbers."""
ROLES = ("split", "trusted")
_WIDEST = 64
"""Of a cell in an array of one width, which takes 4 bytes a character; no number is longer."""
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?", re.ASCII)
_TRUE, _FALSE = {"true", "1", "1.0", "yes"}, {"false", "0", "0.0", "no", "nan", ""}


def repeated(texts: NDArray[np.str_]) -> str | None:
    """The text that occurs most often, if any does more than once."""
    distinct, counts = np.unique(texts, return_counts=True)
    return str(distinct[counts.argmax()]) if counts.max(initial=0) > 1 else None


@dataclass(frozen=True)
class Columns:
    """Columns of equal length, as they were written."""

    values: dict[str, NDArray[Any]]
    origin: Path
    _read_as_numbers: dict[str, NDArray[np.float64] | None] = field(
        default_factory=dict, repr=False
    )

    @staticmethod
    def read(path: Path) -> "Columns":
        """The columns of a `.csv` or `.parquet` file."""
        columns = _read_parquet(path) if path.suffix.lower() == ".parquet" else _read_csv(path)
        if not columns or not len(next(iter(columns.values()))):
            raise DataError(f"{path} has no rows.")
        return Columns(columns, path)

    @property
    def names(self) -> list[str]:
        """The columns' names, in the file's order."""
        return list(self.values)

    def texts(self, name: str) -> NDArray[np.str_]:
        """A column as text, without blanks around it: 'pro' and 'pro ' are one."""
        return np.char.strip(self.values[name].astype(np.str_))

    def labels(self, name: str) -> NDArray[np.str_]:
        """The label column as text, without gaps."""
        texts = self.texts(name)
        empty = np.flatnonzero((texts == "") | _is_nan(self.values[name]))
        if len(empty):
            raise DataError(
                f"{self.origin}: data row {empty[0] + 1} has no label in column {name!r} "
                f"({len(empty)} such rows); label or drop them."
            )
        return texts

    def numbers(self, name: str) -> NDArray[np.float64] | None:
        """A column as numbers, NaN where a cell is empty, or None if any cell is something else.

        Dates are seconds, true and false are 1 and 0, whatever file they come from. Asked for
        several times a column, and read once.
        """
        if name not in self._read_as_numbers:
            self._read_as_numbers[name] = self._finite(name, as_numbers(self.values[name]))
        return self._read_as_numbers[name]

    def _finite(self, name: str, numbers: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        if numbers is None:
            return None
        wrong = np.flatnonzero(np.isinf(numbers))
        if len(wrong):
            raise DataError(
                f"{self.origin}: column {name!r} has {str(self.values[name][wrong[0]])!r} in data row "
                f"{wrong[0] + 1} where a finite number is expected; correct the cell or drop the row."
            )
        return numbers


def as_numbers(cells: NDArray[Any]) -> NDArray[np.float64] | None:
    """Cells (n,) as numbers, NaN where one is empty, or None if any is something else."""
    if cells.dtype.kind == "O":  # one is too long for a number, see `_texts`
        return None
    if cells.dtype.kind in "Mm":
        gap = np.isnat(cells)
        seconds = cells.astype(f"{cells.dtype.kind}8[us]").astype(np.int64) / 1e6
        return np.where(gap, np.nan, seconds)
    if cells.dtype.kind in "biuf":
        return cells.astype(np.float64)
    texts = np.char.strip(cells.astype(np.str_))
    full = texts != ""
    found = np.full(len(texts), np.nan)
    if not full.any():
        return found
    for read in (_plain_numbers, _truths, _dates):
        if (some := read(texts[full])) is not None:
            found[full] = some
            return found
    known = full & ~np.isin(np.char.lower(texts), GAPS)
    if known.any() and (some := _plain_numbers(texts[known])) is not None:
        found[known] = some
        return found
    return None


def _plain_numbers(texts: NDArray[np.str_]) -> NDArray[np.float64] | None:
    try:
        return texts.astype(np.float64)
    except ValueError:
        return None


def _truths(texts: NDArray[np.str_]) -> NDArray[np.float64] | None:
    small = np.char.lower(texts)
    return (small == "true").astype(np.float64) if np.isin(small, ["true", "false"]).all() else None


def _dates(texts: NDArray[np.str_]) -> NDArray[np.float64] | None:
    """Seconds since 1970 of ISO dates, with or without a time of day."""
    if not all(map(_ISO.fullmatch, texts.tolist())):
        return None
    try:
        return texts.astype("M8[us]").astype(np.int64) / 1e6
    except ValueError:  # the 31st of February
        return None


def _is_nan(cells: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isnan(cells) if cells.dtype.kind == "f" else np.zeros(len(cells), dtype=bool)


def parts_of(columns: Columns, whole: Samples, class_names: tuple[str, ...], kind: Kind) -> Source:
    """Train, test and trusted samples, as the columns `split` and `trusted` say."""
    trusted = _flags(columns, len(whole))  # (n,)
    if "split" in columns.names:
        test = _test_rows(columns)
    else:
        test = np.zeros(len(whole), dtype=bool)
        rest = whole.take(~trusted)
        test[rest.ids] = hold_out_test(rest.labels, rest.content_hashes())
    if (test & trusted).any():
        row = int(np.flatnonzero(test & trusted)[0]) + 1
        raise DataError(f"{columns.origin}: data row {row} is both test and trusted; choose one.")
    if (test | trusted).all():
        raise DataError(f"{columns.origin} has no training row; every row is test or trusted.")
    return Source(
        train=whole.take(~test & ~trusted),
        test=whole.take(test),
        class_names=class_names,
        kind=kind,
        split="given" if "split" in columns.names else "ours",
        trusted=whole.take(trusted) if trusted.any() else None,
    )


def _test_rows(columns: Columns) -> NDArray[np.bool_]:
    texts = columns.texts("split")
    wrong = set(np.unique(texts).tolist()) - {"train", "test"}
    if wrong:
        raise DataError(
            f"{columns.origin}: split is {sorted(wrong)[0]!r}; expected 'train' or 'test'."
        )
    return texts == "test"


def _flags(columns: Columns, size: int) -> NDArray[np.bool_]:
    if "trusted" not in columns.names:
        return np.zeros(size, dtype=bool)
    texts = np.char.lower(columns.texts("trusted"))
    wrong = set(np.unique(texts).tolist()) - _TRUE - _FALSE
    if wrong:
        raise DataError(
            f"{columns.origin}: trusted is {sorted(wrong)[0]!r}; expected true or false."
        )
    return np.isin(texts, sorted(_TRUE))


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
