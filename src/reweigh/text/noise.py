"""Planted noise for pairs: some lose words on both sides, as in the paper's noisy translation.

Each pair is hit with probability p; in a pair that is hit each word of source and target becomes
`<MASK>` with probability q, independently. Words are those before they are split into pieces. The
paper has p = 0.1 and q = 0.15.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reweigh.data.seeds import generator
from reweigh.errors import UsageError
from reweigh.text.vocabulary import MASK, SPECIALS


class MaskNoise(NamedTuple):
    """How often pairs are hit, and words within them."""

    pairs: float
    words: float = 0.15


def parse_noise(text: str) -> MaskNoise | None:
    """`none`, `mask:P` or `mask:P:Q`."""
    if text == "none":
        return None
    kind, *rates = text.split(":")
    try:
        noise = MaskNoise(*map(float, rates))
    except (ValueError, TypeError):
        noise = MaskNoise(-1)
    if kind != "mask" or not all(0 <= rate <= 1 for rate in noise):
        raise UsageError(
            f"Noise {text!r} is not known for translation; expected none, mask:P or mask:P:Q with "
            f"rates from 0 to 1, as in mask:0.1:0.15."
        )
    return noise


def plant(
    source: Sequence[list[str]], target: Sequence[list[str]], noise: MaskNoise, seed: int
) -> tuple[list[list[str]], list[list[str]], NDArray[np.bool_]]:
    """Both sides with masked words, and which pairs were changed."""
    rng = generator(seed, "mask noise")
    hit = rng.random(len(source)) < noise.pairs  # (n,)
    noisy = [list(source), list(target)]
    changed = np.zeros(len(source), dtype=np.bool_)
    for k in np.flatnonzero(hit):
        for side in noisy:
            masked = rng.random(len(side[k])) < noise.words  # (words,)
            side[k] = [SPECIALS[MASK] if m else w for m, w in zip(masked, side[k], strict=True)]
            changed[k] |= masked.any()
    return noisy[0], noisy[1], changed
