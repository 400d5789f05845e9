"""The joint dictionary: one number for each piece of either language.

The five specials come first, then the pieces by descending count in the training text, ties in the
order of the alphabet: the same text gives the same numbers.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from reweigh.errors import DataError

PAD, BEGIN, END, UNKNOWN, MASK = range(5)
SPECIALS = ("<pad>", "<s>", "</s>", "<unk>", "<MASK>")


class Vocabulary:
    """Pieces and their numbers, 0 … len − 1."""

    def __init__(self, symbols: Sequence[str]) -> None:
        self.symbols = tuple(symbols)
        self._number = {symbol: number for number, symbol in enumerate(self.symbols)}
        if self.symbols[: len(SPECIALS)] != SPECIALS or len(self._number) != len(self.symbols):
            raise DataError(
                f"A vocabulary of {len(self.symbols)} symbols does not start with "
                f"{' '.join(SPECIALS)}, or names a symbol twice; prepare the data again."
            )

    @classmethod
    def of(cls, pieces: Iterable[str]) -> "Vocabulary":
        """The vocabulary of a training text, given as all its pieces."""
        counts = Counter(pieces)
        ordered = sorted(counts.keys() - set(SPECIALS), key=lambda piece: (-counts[piece], piece))
        return cls([*SPECIALS, *ordered])

    def __len__(self) -> int:
        return len(self.symbols)

    def encode(self, pieces: Iterable[str]) -> list[int]:
        """The numbers of pieces; those that training never saw are `<unk>`.

        So is a `</s>` that stands in the text itself: only we may end a sentence, begin or pad it.
        """
        numbers = (self._number.get(piece, UNKNOWN) for piece in pieces)
        return [UNKNOWN if number in (PAD, BEGIN, END) else number for number in numbers]

    def decode(self, numbers: Iterable[int]) -> list[str]:
        """The pieces up to the end of the sentence, padding and begin marks left out."""
        pieces: list[str] = []
        for number in numbers:
            if number == END:
                break
            if number not in (PAD, BEGIN):
                pieces.append(self.symbols[number])
        return pieces
