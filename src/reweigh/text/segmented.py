"""Languages that are written without blanks, where words must be cut before they are counted."""

import re
from collections.abc import Iterator, Mapping

from reweigh.text.corpus import HeldOut

_WITHOUT_BLANKS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
)  # Thai, Lao, Burmese, Khmer, Japanese, Chinese
_MOST = 4  # such characters in a word, on average, of text that somebody has cut


def unsegmented(tests: Mapping[str, HeldOut], target: str) -> Iterator[str]:
    """What to know of BLEU where references have no blanks between their words."""
    lines = [line for test in tests.values() for line in test.references]
    letters = sum(len(_WITHOUT_BLANKS.findall(line)) for line in lines)
    words = sum(len(line.split()) for line in lines if _WITHOUT_BLANKS.search(line))
    if letters > _MOST * words:
        yield (
            f"references in {target!r} have no blanks between their words, so that both BLEU scores "
            "take a whole sentence for a word: cut the text into words or characters first"
        )
