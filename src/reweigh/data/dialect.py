"""How a CSV file was written: in which encoding, and by which mark its cells are separated.

Programs write what their country has: a spreadsheet in most of Europe separates by semicolons,
writes 1.234,50 and saves as cp1252 or UTF-16. Nothing in the file says so but the text itself.
"""

import codecs
import csv
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from reweigh.errors import DataError

SEPARATORS = (",", ";", "\t")
_HINTS = tuple(f"sep={mark}" for mark in SEPARATORS)


@dataclass(frozen=True)
class Dialect:
    """Of one file; the default needs no word."""

    separator: str = ","
    encoding: str = "utf-8-sig"

    @property
    def decimal_commas(self) -> bool:
        """Whether a comma may stand in a number: not where it stands between cells."""
        return self.separator != ","

    def rows(self, path: Path) -> Iterator[list[str]]:
        """The rows of a file, without empty lines and without Excel's first line `sep=;`."""
        with path.open(encoding=self.encoding, newline="") as file:
            if file.readline().rstrip("\r\n").lower() not in _HINTS:
                file.seek(0)
            yield from filter(None, csv.reader(file, delimiter=self.separator, strict=True))

    def remark(self, path: Path, with_commas: list[str]) -> str | None:
        """What was found out, to be told; `with_commas` are columns read as such numbers."""
        told = f" as separated by {self.separator!r}" if self.separator != "," else ""
        if with_commas:
            some = ", ".join(map(repr, with_commas[:3])) + (" …" if len(with_commas) > 3 else "")
            told += f" with decimal commas ({some})"
        if self.encoding != Dialect.encoding:
            told += f"{',' if told else ''} in {self.encoding}"
        return f"{path.name} is read{told}" if told else None


def encoding_of(path: Path) -> str:
    """UTF-16 by its mark, UTF-8 if the bytes are such, else cp1252, as Windows writes."""
    raw = path.read_bytes()
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    for encoding in (Dialect.encoding, "cp1252"):
        with suppress(UnicodeDecodeError):
            raw.decode(encoding)
            return encoding
    raise DataError(f"{path} is text in neither UTF-8, UTF-16 nor cp1252; save it as UTF-8.")


def candidates(path: Path) -> list[Dialect]:
    """The dialects that cut the header into cells, into most first: it decides."""
    encoding = encoding_of(path)
    found = {Dialect(mark, encoding): _cells_of_header(path, mark, encoding) for mark in SEPARATORS}
    cutting = [dialect for dialect, cells in found.items() if cells > 1]
    return sorted(cutting, key=lambda dialect: -found[dialect]) or [Dialect(encoding=encoding)]


def _cells_of_header(path: Path, mark: str, encoding: str) -> int:
    try:
        return len(next(Dialect(mark, encoding).rows(path), []))
    except csv.Error:  # quotes that make sense with another mark only
        return 0
