"""A table as named columns, each as texts or as numbers."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reweigh.data.dialect import Dialect
from reweigh.data.table_reading import read_cells
from reweigh.errors import DataError

Kind: TypeAlias = Literal["number", "date", "true or false"]
"""What numbers were written as."""
GAPS = ("na", "n/a", "null", "none", "?", "-")
"""What stands for an empty cell where all others are numbers, dates, or true and false."""
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?", re.ASCII)
_WITH_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d*)(,\d+)?([eE][+-]?\d+)?", re.ASCII)
"""1.234,50 as a number; the comma may be missing."""
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}", re.ASCII)


def repeated(texts: NDArray[np.str_]) -> str | None:
    """The text that occurs most often, if any does more than once."""
    distinct, counts = np.unique(texts, return_counts=True)
    return str(distinct[counts.argmax()]) if counts.max(initial=0) > 1 else None


@dataclass(frozen=True)
class Columns:
    """Columns of equal length, as they were written."""

    values: dict[str, NDArray[Any]]
    origin: Path
    dialect: Dialect = field(default_factory=Dialect)
    """How the file was written."""
    _read_as_numbers: dict[str, NDArray[np.float64] | None] = field(
        default_factory=dict, repr=False
    )

    @staticmethod
    def read(path: Path) -> "Columns":
        """The columns of a `.csv` or `.parquet` file."""
        cells, dialect = read_cells(path)
        return Columns(cells, path, dialect)

    @property
    def names(self) -> list[str]:
        """The columns' names, in the file's order."""
        return list(self.values)

    def __len__(self) -> int:
        return len(next(iter(self.values.values())))

    def texts(self, name: str) -> NDArray[np.str_]:
        """A column as text, without blanks around it: 'pro' and 'pro ' are one."""
        return np.char.strip(self.values[name].astype(np.str_))

    def distinct(self, name: str) -> tuple[list[str], NDArray[np.int64]]:
        """A column's different texts, in order, and which of them each cell is, (n,)."""
        cells = self.values[name]
        if cells.dtype.kind != "O":
            found, codes = np.unique(self.texts(name), return_inverse=True)
            return found.tolist(), codes.reshape(-1)
        texts = [
            cell.strip() for cell in cells.tolist()
        ]  # one width for all would take much memory
        place = {text: i for i, text in enumerate(sorted(set(texts)))}
        return list(place), np.array([place[text] for text in texts])

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
            found = as_numbers(self.values[name], self.dialect.decimal_commas)
            self._read_as_numbers[name] = self._finite(name, found)
        return self._read_as_numbers[name]

    def kind(self, name: str) -> Kind:
        """What a column of numbers was written as."""
        cells = self.values[name]
        if cells.dtype.kind in "Mb":
            return "date" if cells.dtype.kind == "M" else "true or false"
        if cells.dtype.kind != "U":
            return "number"
        texts = (str(cell).strip() for cell in cells)  # looked at one by one: the first decides
        first = next((text for text in texts if text and text.lower() not in GAPS), "")
        if _ISO.fullmatch(first):
            return "date"
        return "true or false" if first.lower() in ("true", "false") else "number"

    def all_gaps(self, name: str) -> bool:
        """Whether every cell is empty, or NA and the like."""
        if self.values[name].dtype.kind == "O":  # one is too long for a gap
            return False
        texts = self.texts(name)
        return bool(((texts == "") | _gaps(texts)).all())

    def beyond_floats(self, name: str) -> bool:
        """Whether numbers of a column may differ and be one float: whole ones beyond 2^53."""
        numbers = self.numbers(name)
        return numbers is not None and bool((np.abs(numbers) >= 2**53).any())

    def remarks(self, features: Iterable[str] = ()) -> tuple[str, ...]:
        """How the file was written, where that is worth a word."""
        names = [name for name in features if self.dialect.decimal_commas]
        found = {
            name: self.texts(name).tolist() for name in names if self.numbers(name) is not None
        }
        commas = [name for name, texts in found.items() if any("," in text for text in texts)]
        grouped = (_perhaps_grouped(name, texts) for name, texts in found.items())
        return tuple(filter(None, (self.dialect.remark(self.origin, commas), *grouped)))

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


def as_numbers(cells: NDArray[Any], decimal_commas: bool = False) -> NDArray[np.float64] | None:
    """Cells (n,) as numbers, NaN where one is empty, or None if any is something else.

    With `decimal_commas`, 1.234,50 is a number in a column that has nothing but such.
    """
    if cells.dtype.kind == "O":  # one is too long for a number, see `table_reading`
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
    some_numbers = _either_numbers if decimal_commas else _plain_numbers
    for known in (full, full & ~_gaps(texts)):
        for read in (some_numbers, _truths, _dates):
            if known.any() and (some := read(texts[known])) is not None:
                found[known] = some
                return found
    return None


def _gaps(texts: NDArray[np.str_]) -> NDArray[np.bool_]:
    return np.isin(np.char.lower(texts), GAPS)


def _plain_numbers(texts: NDArray[np.str_]) -> NDArray[np.float64] | None:
    try:
        return texts.astype(np.float64)
    except ValueError:
        return None


def _either_numbers(texts: NDArray[np.str_]) -> NDArray[np.float64] | None:
    plain = _plain_numbers(texts)
    return _numbers_with_commas(texts.tolist()) if plain is None else plain


def _numbers_with_commas(texts: list[str]) -> NDArray[np.float64] | None:
    if not all(map(_WITH_COMMA.fullmatch, texts)) or not any("," in text for text in texts):
        return None
    return _plain_numbers(np.array([t.replace(".", "").replace(",", ".") for t in texts]))


def _perhaps_grouped(name: str, texts: list[str]) -> str | None:
    """Numbers without a comma whose points all stand where those of thousands do: 999 and 1.234."""
    pointed = [text for text in texts if "." in text]
    if (
        not pointed
        or any("," in text for text in texts)
        or not all(map(_GROUPED.fullmatch, pointed))
    ):
        return None
    return (
        f"column {name!r} has numbers such as {pointed[0]!r}, read with a decimal point: where the point "
        f"groups thousands, write {pointed[0].replace('.', '')}"
    )


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
