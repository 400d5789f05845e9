"""Names that others chose (classes, files, runs), made fit for a page."""

from html import escape

LONGEST = 120


def shown(text: str, longest: int = LONGEST) -> str:
    """The text, cut where it is very long; half a surrogate pair becomes the mark for it."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return whole if len(whole) <= longest else whole[: longest - 1] + "…"


def on_chart(text: str) -> str:
    """For plotly, which takes `<b>` and entities in labels for markup: short and escaped."""
    return escape(shown(text, 24), quote=False)
