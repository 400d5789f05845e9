"""The end of a sentence about a name that does not exist: what was probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean …?` where something is near, else what there is."""
    names = list(known)
    near = get_close_matches(name, names, n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(near)}?" if near else f"; known are {', '.join(names)}"
