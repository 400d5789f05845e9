"""What tells settings apart, in words: `epochs=3`, `noise=flip:0.4, every=2`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def differences(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Of each of several nested settings, the keys in which not all of them agree."""
    flat = [dict(_leaves(one)) for one in settings]
    keys = [key for key in dict.fromkeys(k for one in flat for k in one) if _differ(flat, key)]
    return [", ".join(_words(one, key) for key in keys) for one in flat]


def told_apart(names: Sequence[str], settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names such that different settings, which must not be averaged into one row, differ."""
    told = list(names)
    for name in set(names):
        places = [i for i, other in enumerate(names) if other == name]
        for i, words in zip(places, differences([settings[i] for i in places]), strict=True):
            told[i] = f"{name} ({words})" if words else name
    return told


def _leaves(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _differ(flat: Sequence[Mapping[str, Any]], key: str) -> bool:
    return any(one.get(key) != flat[0].get(key) for one in flat)


def _words(one: Mapping[str, Any], key: str) -> str:
    name = key.rpartition(".")[2]
    return f"{name}={one[key]}" if key in one else f"no {name}"
