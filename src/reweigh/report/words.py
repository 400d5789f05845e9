"""Names that others chose (classes, files, runs) and numbers, made fit for a page."""

import re
from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

LONGEST = 120


def shown(text: str, longest: int = LONGEST) -> str:
    """The text, cut where it is very long; half a surrogate pair becomes the mark for it."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return whole if len(whole) <= longest else whole[: longest - 1] + "…"


def counted(number: int, what: str) -> str:
    """`1 group`, `2,000 groups`."""
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def unbroken(text: str) -> str:
    """With blanks that do not break between a figure and its sign or unit: no line begins with `%`."""
    return re.sub(r"(?<=[\d±]) (?=[±%\d])", "\N{NO-BREAK SPACE}", text)


def on_chart(text: str) -> str:
    """For plotly, which takes `<b>` and entities in labels for markup: short and escaped."""
    return escape(shown(text, 24), quote=False)


def on_chart_apart(texts: Sequence[str]) -> list[str]:
    """Names on one axis: cut in the middle, and numbered where that leaves two alike."""
    found, times = [], Counter[str]()
    for text in texts:
        cut = shown(text) if len(text) <= 24 else f"{shown(text)[:12]}…{text[-11:]}"
        times[cut] += 1
        found.append(escape(cut, quote=False) + (f" #{times[cut]}" if times[cut] > 1 else ""))
    return found


def plain(values: NDArray[Any]) -> list[Any]:
    """Nested lists for JSON, four figures, null for what is not finite."""
    if values.ndim > 1:
        return [plain(row) for row in values]
    return [float(f"{x:.4g}") if np.isfinite(x) else None for x in values.tolist()]
