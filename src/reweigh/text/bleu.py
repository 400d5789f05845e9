"""BLEU in its two common forms, which must not be compared with each other.

*Tokenised*: words as the student writes them, no smoothing; equal to Moses' `multi-bleu.perl`,
which the paper and most IWSLT'14 tables use. *Detokenised*: sacreBLEU's standard on plain text,
with the signature that says how it was computed.

multi-bleu.perl cuts at ASCII blanks only, Python at all of Unicode's: a no-break space inside a
word would make two words of one. Other blanks are therefore replaced before scoring.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from reweigh.errors import DataError

_PRIVATE = 0xF0000  # from here on code points are nobody's characters
_LAST_BLANK = 0x3000  # of Unicode
_OTHER_BLANKS = {
    code: _PRIVATE + code
    for code in range(_LAST_BLANK + 1)
    if chr(code).isspace() and chr(code) not in " \t\n\v\f\r"
}


class Bleu(NamedTuple):
    """Both scores of one translation, 0 … 100."""

    tokenised: float
    """Equal to multi-bleu.perl."""
    detokenised: float
    """Standard sacreBLEU."""
    signature: str
    """How the detokenised score was computed."""


def bleu(
    words: Sequence[str],
    reference_words: Sequence[str],
    sentences: Sequence[str],
    references: Sequence[str],
    *,
    lowercase: bool,
) -> Bleu:
    """Both scores: of tokenised lines, and of sentences as a reader sees them.

    `lowercase` says that the student writes no capitals; the references of the detokenised score
    are then lower-cased too, which its signature shows (`case:lc`).
    """
    standard, signature = detokenised_bleu(sentences, references, lowercase=lowercase)
    return Bleu(tokenised_bleu(words, reference_words), standard, signature)


def tokenised_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """What `multi-bleu.perl references < hypotheses` prints first."""
    metric = _metric(tokenize="none", smooth_method="none", force=True)
    return _score(metric, [_one_word(h) for h in hypotheses], [_one_word(r) for r in references])


def detokenised_bleu(
    hypotheses: Sequence[str], references: Sequence[str], *, lowercase: bool = False
) -> tuple[float, str]:
    """sacreBLEU's default score and its signature."""
    metric = _metric(lowercase=lowercase)
    score = _score(metric, list(hypotheses), list(references))
    return score, str(metric.get_signature())


def _score(metric: Any, hypotheses: list[str], references: list[str]) -> float:
    if len(hypotheses) != len(references) or not hypotheses:
        raise DataError(
            f"{len(hypotheses):,} translations and {len(references):,} references cannot be "
            f"scored; expected equally many, and at least one."
        )
    return float(metric.corpus_score(hypotheses, [references]).score)


def _metric(**options: Any) -> Any:
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError:
        raise DataError(
            "BLEU needs sacrebleu, which is not installed; run `pip install 'reweigh[translation]'`."
        ) from None
    return BLEU(**options)


def _one_word(line: str) -> str:
    """The line with blanks that perl does not cut at made part of their words."""
    return line.translate(_OTHER_BLANKS)
