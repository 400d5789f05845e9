"""From a sentence to numbers and back: tokenise, split, number.

A codec is all that must be kept to translate with a trained model: languages, casing, merges and
vocabulary, in one JSON file that holds nothing to execute.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reweigh.errors import CheckpointError
from reweigh.replacing import write_atomically
from reweigh.text.bpe import Bpe, Merge, join
from reweigh.text.tokenise import detokenise, tokenise
from reweigh.text.vocabulary import MASK, SPECIALS, Vocabulary

VOCABULARY = "vocabulary.json"
"""What a run's folder calls it."""


@dataclass(frozen=True)
class TextForm:
    """How sentences become words."""

    source: str = "de"
    """Language translated from."""
    target: str = "en"
    """Language translated into."""
    lowercase: bool = True
    tokenised: bool = False
    """The text is tokenised already, as Moses does it."""

    def source_words(self, lines: Iterable[str]) -> list[list[str]]:
        """The words of sentences to translate."""
        return tokenise(lines, self.source, lowercase=self.lowercase, tokenised=self.tokenised)

    def target_words(self, lines: Iterable[str]) -> list[list[str]]:
        """The words of translations."""
        return tokenise(lines, self.target, lowercase=self.lowercase, tokenised=self.tokenised)

    def sentence(self, words: Sequence[str]) -> str:
        """A translation as a reader wants it."""
        return detokenise(words, self.target)

    def source_sentence(self, words: Sequence[str]) -> str:
        """The same of what was translated."""
        return detokenise(words, self.source)

    def __str__(self) -> str:
        case = "lower-cased" if self.lowercase else "cased"
        cut = ", tokenised before" if self.tokenised else ""
        return f"{self.source} to {self.target}, {case}{cut}"


class Codec:
    """Sentences ↔ numbers of a joint vocabulary."""

    def __init__(self, form: TextForm, merges: Iterable[Merge], vocabulary: Vocabulary) -> None:
        self.form = form
        self.bpe = Bpe(merges, whole=SPECIALS[MASK:])
        self.vocabulary = vocabulary

    def encode(self, lines: Iterable[str]) -> list[list[int]]:
        """The numbers of each sentence to translate, without begin and end."""
        return [self.encode_words(words) for words in self.form.source_words(lines)]

    def encode_words(self, words: Iterable[str]) -> list[int]:
        """The numbers of a sentence that was cut into words."""
        return self.vocabulary.encode(self.bpe.split(words))

    def decode_words(self, numbers: Iterable[int]) -> list[str]:
        """The words that numbers stand for, up to the end mark: what tokenised BLEU looks at."""
        return join(self.vocabulary.decode(numbers))

    def decode(self, numbers: Iterable[int]) -> str:
        """The sentence that numbers stand for."""
        return self.form.sentence(self.decode_words(numbers))

    def to_json(self) -> dict[str, Any]:
        """All of it, in plain values."""
        symbols, merges = list(self.vocabulary.symbols), [list(m) for m in self.bpe.merges]
        return {"form": asdict(self.form), "symbols": symbols, "merges": merges}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "Codec":
        """The codec that `to_json` wrote."""
        merges = [(str(a), str(b)) for a, b in content["merges"]]
        return cls(TextForm(**content["form"]), merges, Vocabulary(content["symbols"]))

    def save(self, path: Path) -> None:
        """Write it, whole or not at all."""
        write_atomically(path, json.dumps(self.to_json(), ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: Path) -> "Codec":
        """Read what `save` wrote."""
        try:
            return cls.from_json(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise CheckpointError(
                f"{path} cannot be read as a vocabulary ({type(problem).__name__}: {problem}); "
                f"it is written beside the checkpoints of a translation run."
            ) from None
