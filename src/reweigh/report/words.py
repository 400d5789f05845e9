"""Names that others chose (classes, files, runs) and numbers, made fit for a page."""

from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

LONGEST = 120


def shown(text: str, longest: int = LONGEST) -> str:
    """The text, cut where it is very long; half a surrogate pair becomes the mark for it."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return whole if len(whole) <= longest else whole[: longest - 1] + "…"


def on_chart(text: str) -> str:
    """For plotly, which takes `<b>` and entities in labels for markup: short and escaped."""
    return escape(shown(text, 24), quote=False)


def plain(values: NDArray[Any]) -> list[Any]:
    """Nested lists for JSON, four figures, null for what is not finite."""
    if values.ndim > 1:
        return [plain(row) for row in values]
    return [float(f"{x:.4g}") if np.isfinite(x) else None for x in values.tolist()]
