"""A list in a sentence that stays short."""

from collections.abc import Sequence

MOST = 5


def first_few(words: Sequence[str], what: str = "") -> str:
    """The first five, and how many more there are (of `what`)."""
    more = f" and {len(words) - MOST} more {what}".rstrip() if len(words) > MOST else ""
    return ", ".join(words[:MOST]) + more
