"""A table as named columns, and the columns that say which part a row belongs to."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.data.samples import Kind, Samples, Source
from reweigh.data.splits import hold_out_test
from reweigh.errors import DataError

ROLES = ("split", "trusted")
_TRUE, _FALSE = {"true", "1", "yes"}, {"false", "0", "no", ""}


def repeated(texts: NDArray[np.str_]) -> str | None:
    """The text that occurs most often, if any does more than once."""
    distinct, counts = np.unique(texts, return_counts=True)
    return str(distinct[counts.argmax()]) if counts.max(initial=0) > 1 else None


@dataclass(frozen=True)
class Columns:
    """Columns of equal length, as they were written."""

    values: dict[str, NDArray[Any]]
    origin: Path

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
        """A column as text."""
        return self.values[name].astype(np.str_)

    def labels(self, name: str) -> NDArray[np.str_]:
        """The label column as text, without gaps."""
        texts = np.char.strip(self.texts(name))
        empty = np.flatnonzero(np.isin(texts, ["", "None", "nan"]))
        if len(empty):
            raise DataError(
                f"{self.origin}: data row {empty[0] + 1} has no label in column {name!r} "
                f"({len(empty)} such rows); label or drop them."
            )
        return texts

    def numbers(self, name: str) -> NDArray[np.float64] | None:
        """A column as numbers, or None if any cell is not one; a gap is an error."""
        try:
            numbers = self.values[name].astype(np.float64)
        except (ValueError, TypeError):  # TypeError: None among Parquet's texts
            return self._without_gaps(name)
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if len(wrong):
            raise self._gap(name, wrong[0])
        return numbers

    def _without_gaps(self, name: str) -> None:
        """A column that is numbers but for empty cells is a column with gaps, not of text."""
        texts = np.char.strip(self.texts(name))
        empty = np.flatnonzero(texts == "")
        try:
            texts[texts != ""].astype(np.float64)
        except ValueError:
            return
        raise self._gap(name, empty[0])

    def _gap(self, name: str, row: int) -> DataError:
        return DataError(
            f"{self.origin}: column {name!r} has {str(self.values[name][row])!r} in data row "
            f"{row + 1} where a finite number is expected; fill the gap or drop the row."
        )


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
    header, body = (rows[0], rows[1:]) if rows else ([], [])
    if len(set(header)) != len(header):
        raise DataError(f"{path} has two columns of one name in its header: {', '.join(header)}.")
    for number, row in enumerate(body, start=1):
        if len(row) != len(header):
            raise DataError(
                f"{path}: data row {number} has {len(row)} cells, the header has {len(header)}."
            )
    return {name: np.asarray([row[i] for row in body]) for i, name in enumerate(header)}


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
    return {name: table[name].to_numpy() for name in table.column_names}
