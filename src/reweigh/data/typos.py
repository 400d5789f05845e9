"""Class names that are probably one class written in several ways: ja and Ja, nien and nein, 1 and 1.0."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from reweigh.data.classes import value_of

RARE_SHARE, RARE_NUMBER = 0.01, 10
"""Of the samples, and how many: a class below either may be a typo. Our choice."""
TIMES = 10
"""So many times as frequent is a class that a rare one is taken for. Our choice."""
MOST_CLASSES = 200
"""Names of more classes resemble each other anyway, and comparing all pairs takes seconds."""


def one_class_perhaps(class_names: Sequence[str], counts: Sequence[int]) -> Iterator[str]:
    """Parts of a sentence about `class_names`, each of which has so many samples."""
    yield from _same_but_for_case(class_names)
    if len(class_names) <= MOST_CLASSES:
        yield from _resembling(dict(zip(class_names, counts, strict=True)))


def _same_but_for_case(class_names: Sequence[str]) -> Iterator[str]:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name in class_names:
        groups[_key(name)].append(name)
    for key, (*most, last) in groups.items():
        if most:
            why = "differ only in case or blanks" if value_of(key) is None else "are one number"
            yield f"{', '.join(map(repr, most))} and {last!r} {why}"


def _resembling(counts: dict[str, int]) -> Iterator[str]:
    rare = max(RARE_NUMBER, RARE_SHARE * sum(counts.values()))
    for name, count in ((name, n) for name, n in counts.items() if n < rare):
        frequent = {_key(other): other for other, n in counts.items() if n >= TIMES * count}
        meant = {key: other for key, other in frequent.items() if _letters(key) != _letters(name)}
        near = get_close_matches(_key(name), meant, n=1)
        if near and near[0] != _key(name):
            yield f"{name!r} ({count} samples) resembles {meant[near[0]]!r}"


def _key(name: str) -> str:
    """The same for names that mean the same."""
    value = value_of(name)
    return " ".join(name.casefold().split()) if value is None else str(value)


def _letters(name: str) -> str:
    """Names that differ in figures alone are numbered, not misspelt."""
    return re.sub(r"[\d.]+", "", _key(name))
