"""The same charts for papers: SVG or PDF, drawn by matplotlib from the page's own descriptions."""

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reweigh import signals
from reweigh.errors import UsageError
from reweigh.replacing import replacing
from reweigh.report.contents import Report
from reweigh.report.figure_drawing import draw, size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

log = logging.getLogger("reweigh")
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "reweigh",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.size": 9,
    "savefig.dpi": 300,  # of the dots, which are pixels inside the file
    "text.parse_math": False,
}
_FONTS = (
    "DejaVu Sans", "Noto Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Zen Hei",
    "Noto Sans Arabic", "Noto Sans Devanagari", "Noto Emoji", "Symbola",
)  # fmt: skip
"""Asked in turns for a letter; those that are not installed are left out."""


def write_figures(report: Report, folder: Path, kind: str) -> list[Path]:
    """One file a chart, named by it; the paths."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError(
            "Figures need matplotlib, not installed here; run `pip install 'reweigh[report]'`."
        ) from None
    paths = []
    style: dict[Any, Any] = {**_STYLE, "font.family": _fonts()}
    with mpl.rc_context(style), _missing_letters_told(kind):
        for chart in report.charts:
            signals.check()
            figure = Figure(figsize=size(chart), layout="constrained")
            draw(figure.add_subplot(), chart)
            paths.append(folder / f"{chart.key}.{kind}")
            _save(figure, paths[-1], kind)
    return paths


def _fonts() -> list[str]:
    from matplotlib.font_manager import get_font_names

    installed = set(get_font_names())
    return [name for name in _FONTS if name in installed]


@contextmanager
def _missing_letters_told(kind: str) -> Iterator[None]:
    """One sentence in the place of a warning a letter; none for SVG, whose reader brings the fonts."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    glyphs = [re.match(r"Glyph (\d+) ", str(one.message)) for one in caught]
    for one, glyph in zip(caught, glyphs, strict=True):
        if glyph is None:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    letters = sorted({chr(int(glyph[1])) for glyph in glyphs if glyph is not None})
    if letters and kind != "svg":
        log.warning(
            "No font here has %s: boxes stand for them in the figures. Install one (Debian: "
            "fonts-noto-cjk, fonts-symbola), or write the figures as svg.",
            " ".join(letters[:10]) + (" …" if len(letters) > 10 else ""),
        )


def _save(figure: "Figure", path: Path, kind: str) -> None:
    """The figure to its file, whole or not at all, without the date: equal runs, equal files."""
    undated = {"Date" if kind == "svg" else "CreationDate": None}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as beside:
            figure.savefig(beside, format=kind, metadata=undated)
    except OSError as error:
        raise UsageError(f"Cannot write the figure {path}: {error.strerror}.") from error
