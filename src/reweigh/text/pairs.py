"""Sentence pairs as text: two files with a sentence a line, or one with a tab between.

Files may be gzipped. Lines end at a line feed and nowhere else (other blanks may be inside a
sentence); a carriage return before it, and a byte-order mark, are left out. A pair with an empty
side is dropped and counted; anything that makes line numbers doubtful is refused.
"""

import gzip
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.errors import DataError

_MOST_WORDS = 10_000
"""In one line; the longest sentences of literature have a tenth of it."""


@dataclass(frozen=True)
class Pairs:
    """Sentences and their translations; `ids` are the lines they were read from, counted from 0."""

    source: list[str]
    target: list[str]
    ids: NDArray[np.int64]  # (n,)
    empty: int = 0
    """How many pairs were left out because a side was empty."""

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, positions: NDArray[Any]) -> "Pairs":
        """The pairs at these positions (or where this mask is true), in that order."""
        chosen = np.arange(len(self))[positions]
        source, target = ([side[k] for k in chosen] for side in (self.source, self.target))
        return Pairs(source, target, self.ids[chosen], self.empty)


def read_two(source: Path, target: Path) -> Pairs:
    """The pairs of two files of equally many lines."""
    sides = read_lines(source), read_lines(target)
    if len(sides[0]) != len(sides[1]):
        raise DataError(
            f"{source} has {len(sides[0]):,} lines and {target} {len(sides[1]):,}; "
            f"line k of one must be the translation of line k of the other."
        )
    return paired(*sides, name=str(source))


def read_tsv(path: Path) -> Pairs:
    """The pairs of one file: source, tab, target."""
    rows = [line.split("\t") if line.strip() else ["", ""] for line in read_lines(path)]
    for number, row in enumerate(rows, 1):
        if len(row) != 2:
            raise DataError(
                f"{path}, line {number}, has {len(row)} columns; expected 2, source and target, "
                f"with one tab between."
            )
    return paired([a for a, _ in rows], [b for _, b in rows], name=str(path))


def paired(source: Sequence[str], target: Sequence[str], name: str) -> Pairs:
    """Pairs of equally many lines, those with an empty side dropped."""
    full = [bool(a.strip() and b.strip()) for a, b in zip(source, target, strict=True)]
    if not any(full):
        why = "a side of each of its lines is empty" if full else "it is empty"
        raise DataError(f"{name} has no pair of sentences: {why}.")
    kept = [k for k, whole in enumerate(full) if whole]
    source, target = [source[k] for k in kept], [target[k] for k in kept]
    return Pairs(source, target, np.asarray(kept, dtype=np.int64), empty=len(full) - len(kept))


def read_lines(path: Path) -> list[str]:
    """The lines of a text file, gzipped or not."""
    return lines_of(read_bytes(path), str(path))


def lines_of(raw: bytes, name: str) -> list[str]:
    """UTF-8 bytes as lines, each of a plausible length."""
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        lines = raw.decode("utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as problem:
        number = raw.count(b"\n", 0, problem.start) + 1
        kind = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "latin1"
        raise DataError(
            f"{name}, line {number}, is not UTF-8 text (byte 0x{raw[problem.start]:02x}); "
            f"convert it, as in `iconv -f {kind} -t utf-8`."
        ) from None
    for number, line in enumerate(lines, 1):
        if len(line) > _MOST_WORDS and (words := len(line.split())) > _MOST_WORDS:
            raise DataError(
                f"{name}, line {number}, has {words:,} words; expected one sentence a line, "
                f"of at most {_MOST_WORDS:,}."
            )
    return [line.removesuffix("\r") for line in lines]


def read_bytes(path: Path) -> bytes:
    """The content of a file, unpacked where it begins as gzip does."""
    if not path.is_file():
        near = get_close_matches(path.name, _names_beside(path), n=3, cutoff=0.4)
        hint = f"; near it: {', '.join(near)}" if near else ""
        raise DataError(f"{path} does not exist{hint}.")
    raw = path.read_bytes()
    if not raw.startswith(b"\x1f\x8b"):
        return raw
    try:
        return gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as problem:
        raise DataError(f"{path} cannot be unpacked ({problem}); fetch it again.") from None


def _names_beside(path: Path) -> list[str]:
    return sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
