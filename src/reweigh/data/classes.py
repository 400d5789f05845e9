"""Labels as people write them (names or numbers) and as models need them (0..K-1)."""

from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from reweigh.data.samples import Labels
from reweigh.errors import DataError


def class_names_of(texts: NDArray[np.str_]) -> tuple[str, ...]:
    """The distinct labels, in numerical order where all are whole numbers, else alphabetical."""
    names = np.unique(texts).tolist()
    return tuple(sorted(names, key=int) if all(map(_is_integer, names)) else sorted(names))


def encode(texts: NDArray[np.str_], class_names: tuple[str, ...], origin: str) -> Labels:
    """Class numbers of labels that are class names, or that are class numbers already.

    Names win: with classes "1", "2", "3" and no other label, "1" is the first class.
    """
    distinct, inverse = np.unique(texts, return_inverse=True)
    by_name = {name: c for c, name in enumerate(class_names)}
    if all(text in by_name for text in distinct.tolist()):
        table = [by_name[text] for text in distinct.tolist()]
    else:
        table = [_number(text, class_names, origin) for text in distinct.tolist()]
    return np.asarray(table, dtype=np.int64)[inverse.reshape(-1)]


def _number(text: str, class_names: tuple[str, ...], origin: str) -> int:
    if not _is_integer(text) and text in class_names:
        return class_names.index(text)
    if _is_integer(text) and 0 <= int(text) < len(class_names):
        return int(text)
    near = get_close_matches(text, class_names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"such as {class_names[0]!r}."
    raise DataError(
        f"{origin}: label {text!r} is neither one of the {len(class_names)} class names nor a "
        f"number in 0..{len(class_names) - 1}; {hint}"
    )


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal()
