"""Parts of a text, cut into words: filtered, split, and kept apart from each other.

Two pairs are copies if both their sides have the same words. Copies leave the part that is held out
less: a test pair leaves the trusted pairs, either leaves the training pairs. Short sentences
("thank you .") repeat in all honest text, so copies are dropped and counted; where the user gave a
test set and more than a tenth of it occurs in another part, the files were cut wrongly, and that is
an error.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.errors import DataError
from reweigh.text.codec import TextForm
from reweigh.text.pairs import Pairs

_TOO_MANY_COPIES = 0.1


@dataclass(frozen=True)
class Part:
    """Pairs with the words of both sides."""

    pairs: Pairs
    source: list[list[str]]
    target: list[list[str]]

    @classmethod
    def of(cls, pairs: Pairs, form: TextForm) -> "Part":
        """Cut into words; pairs of which nothing is left (control characters) are dropped."""
        part = cls(pairs, form.source_words(pairs.source), form.target_words(pairs.target))
        return part.take(np.minimum(*part.lengths()) > 0)

    def __len__(self) -> int:
        return len(self.pairs)

    def lengths(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Words of sources and of targets."""
        return _lengths(self.source), _lengths(self.target)

    def take(self, positions: NDArray[Any]) -> "Part":
        """The pairs at these positions (or where this mask is true), in that order."""
        chosen = np.arange(len(self))[positions]
        source, target = ([side[k] for k in chosen] for side in (self.source, self.target))
        return Part(self.pairs.take(chosen), source, target)

    def contents(self) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        """What makes two pairs the same."""
        return [(tuple(a), tuple(b)) for a, b in zip(self.source, self.target, strict=True)]

    def copied_in(self, other: "Part") -> NDArray[np.bool_]:
        """Which pairs also occur in `other`."""
        known = set(other.contents())
        return np.asarray([content in known for content in self.contents()], dtype=np.bool_)

    def cut(self, number: int, rng: np.random.Generator) -> tuple["Part", "Part"]:
        """`number` pairs drawn at random, and the others, each in the order of the text."""
        drawn = np.zeros(len(self), dtype=np.bool_)
        drawn[rng.permutation(len(self))[:number]] = True
        return self.take(drawn), self.take(~drawn)


def of_plausible_length(part: Part, max_length: int, max_ratio: float) -> Part:
    """The pairs with at most so many words a side, and sides of similar lengths."""
    source, target = part.lengths()
    longer, shorter = np.maximum(source, target), np.minimum(source, target)
    return part.take((longer <= max_length) & (longer <= max_ratio * shorter))


def without_copies(part: Part, held_out: Part, names: tuple[str, str], given: bool) -> Part:
    """`part` without what `held_out` has too."""
    if not len(held_out):
        return part
    share = held_out.copied_in(part).mean()
    if given and share > _TOO_MANY_COPIES:
        raise DataError(
            f"{share:.0%} of the {names[1]} pairs also occur in the {names[0]} pairs; every score "
            f"would be too good: remove them from one of the two."
        )
    return part.take(~part.copied_in(held_out))


def _lengths(lines: Sequence[list[str]]) -> NDArray[np.int64]:
    return np.fromiter(map(len, lines), np.int64, len(lines))
