"""Colours that people with any colour vision can tell apart (Okabe and Ito 2008), and marks."""

PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#999999")
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "x", "cross", "star")
"""Seven beside eight colours: both change from one thing to the next, and 56 things look different."""
RIGHT, WRONG = PALETTE[0], PALETTE[5]
SCALE = "Cividis"
"""Even in lightness, so it reads in grey and on paper."""


def colour(k: int) -> str:
    """Of the k-th thing; after eight they repeat."""
    return PALETTE[k % len(PALETTE)]


def symbol(k: int) -> str:
    """The mark of the k-th thing: another one where its colour comes again."""
    return SYMBOLS[k % len(SYMBOLS)]
