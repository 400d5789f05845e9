"""Sentences to words and back, as Moses does it.

The words are those of today's `tokenizer.perl`. sacremoses follows an older one, which leaves the
last dot of a sentence on an abbreviation ("So am I."); the script splits it off since 2018, and
the common IWSLT'14 files were made after that, so it is split off here. Special characters are
escaped as Moses escapes them (`&apos;`), and unescaped on the way back.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from reweigh.errors import DataError, UsageError


def tokenise(
    lines: Iterable[str], language: str, *, lowercase: bool = True, tokenised: bool = False
) -> list[list[str]]:
    """The words of each line; where it is `tokenised` already they are cut at blanks only."""
    if tokenised:
        words = [line.split() for line in lines]
    else:
        moses = _moses("MosesTokenizer", language)
        words = [_last_dot_apart(moses.tokenize(line)) for line in lines]
    return [[word.lower() for word in line] for line in words] if lowercase else words


def detokenise(words: Sequence[str], language: str) -> str:
    """The sentence that a reader would write: blanks and special characters put right."""
    return _moses("MosesDetokenizer", language).detokenize(list(words))


def refuse_tokenised(lines: Sequence[str], name: str) -> None:
    """Raise a `UsageError` if these lines were tokenised already: a second time spoils them."""
    escaped = sum("&apos;" in line or "&quot;" in line for line in lines)
    if escaped > len(lines) / 100:
        raise UsageError(
            f"{escaped:,} of {len(lines):,} lines of {name} hold &apos; or &quot;, so they were "
            f"tokenised already; say so (tokenised = true)."
        )


def _last_dot_apart(words: list[str]) -> list[str]:
    last = words[-1] if words else ""
    if last.endswith(".") and last.strip("."):
        return [*words[:-1], last[:-1], "."]
    return words


@cache
def _moses(kind: str, language: str) -> Any:
    try:
        import sacremoses
    except ImportError:
        raise DataError(
            "Tokenising text needs sacremoses, which is not installed; "
            "run `pip install 'reweigh[translation]'`."
        ) from None
    return getattr(sacremoses, kind)(language)
