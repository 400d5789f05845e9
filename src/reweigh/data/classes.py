"""Labels as people write them (names or numbers) and as models need them (0..K-1)."""

from difflib import get_close_matches
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from reweigh.data.samples import Labels
from reweigh.errors import DataError


def class_names_of(texts: NDArray[np.str_]) -> tuple[str, ...]:
    """The distinct labels, in numerical order where all are whole numbers, else alphabetical."""
    names = np.unique(texts).tolist()
    return tuple(sorted(names, key=int) if all(map(_is_integer, names)) else sorted(names))


def encode(texts: NDArray[np.str_], class_names: tuple[str, ...], origin: str) -> Labels:
    """Class numbers of labels that are class names.

    Where no class is called by a number, a label may be a class's number in 0..K-1. Where one is,
    numbers are names: compared by value, so that 1 and 1.0 are the same, and never counted from 0.
    """
    distinct, inverse = np.unique(texts, return_inverse=True)
    named = {name: c for c, name in enumerate(class_names)}
    valued = {v: c for name, c in named.items() if (v := value_of(name)) is not None}
    numbers = valued or {float(c): c for c in range(len(class_names))}
    table: list[int] = []
    for text in distinct.tolist():
        c = named.get(text, numbers.get(v) if (v := value_of(text)) is not None else None)
        if c is None:
            raise _strange(text, class_names, bool(valued), origin)
        table.append(c)
    return np.asarray(table, dtype=np.int64)[inverse.reshape(-1)]


def _strange(text: str, class_names: tuple[str, ...], numbered: bool, origin: str) -> DataError:
    K = len(class_names)
    near = get_close_matches(text, class_names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"such as {class_names[0]!r}."
    what = f"one of the {K} class names"
    met = f"not {what}" if numbered else f"neither {what} nor a number in 0..{K - 1}"
    return DataError(f"{origin}: label {text!r} is {met}; {hint}")


def value_of(text: str) -> float | None:
    """Of a text that is a number."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal()
