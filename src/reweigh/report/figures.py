"""The same charts for papers: SVG or PDF, drawn by matplotlib from the page's own descriptions."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reweigh import signals
from reweigh.errors import UsageError
from reweigh.replacing import replacing
from reweigh.report.charts import Chart
from reweigh.report.write import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = {
    "circle": "o", "diamond": "D", "square": "s", "triangle-up": "^", "x": "x", "cross": "P",
}  # fmt: skip
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "reweigh",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.size": 9,
    "text.parse_math": False,
}


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
    for chart in report.charts:
        signals.check()
        path = folder / f"{chart.key}.{kind}"
        with mpl.rc_context(_STYLE):
            figure = Figure(figsize=(4.2, 3.2), layout="constrained")
            draw(figure.add_subplot(), chart)
            _save(figure, path, kind)
        paths.append(path)
    return paths


def _save(figure: "Figure", path: Path, kind: str) -> None:
    """The figure to its file, whole or not at all, without the date: equal runs, equal files."""
    undated = {"Date" if kind == "svg" else "CreationDate": None}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as beside:
            figure.savefig(beside, format=kind, metadata=undated)
    except OSError as error:
        raise UsageError(f"Cannot write the figure {path}: {error.strerror}.") from error


def draw(axes: "Axes", chart: Chart) -> None:
    """Draw one chart; names were made fit for plotly and are turned back."""
    for trace in chart.data:
        _DRAWERS[trace["type"]](axes, trace)
    axes.set_xlabel(chart.layout["xaxis"].get("title", {}).get("text", ""))
    axes.set_ylabel(chart.layout["yaxis"].get("title", {}).get("text", ""))
    axes.spines[["top", "right"]].set_visible(False)
    if sum(bool(label) for label in axes.get_legend_handles_labels()[1]) > 1:
        axes.legend(frameon=False, fontsize=7)


def _bar(axes: "Axes", trace: dict[str, Any]) -> None:
    if trace.get("orientation") == "h":
        names = [_name(text) for text in trace["y"]]
        axes.barh(
            names,
            trace["x"],
            xerr=np.array(trace["error_x"]["array"], float),
            color=trace["marker"]["color"],
        )
        axes.invert_yaxis()
        return
    width = trace["x"][1] - trace["x"][0]
    paint, name = trace["marker"]["color"], _name(trace["name"])
    axes.bar(trace["x"], trace["y"], width, color=paint, alpha=0.7, label=name)


def _scatter(axes: "Axes", trace: dict[str, Any]) -> None:
    x, y = np.array(trace["x"], float), np.array(trace["y"], float)
    name = _name(trace["name"]) if trace.get("showlegend", True) and "name" in trace else None
    marker = trace["marker"]
    if "lines" in trace["mode"]:
        axes.plot(x, y, color=trace["line"]["color"], label=name)
    elif isinstance(marker["color"], list):
        values = np.array(marker["color"], float)
        dots = axes.scatter(
            x, y, 5, values, cmap="cividis", vmin=0, vmax=marker["cmax"], rasterized=True
        )
        axes.figure.colorbar(dots, ax=axes, label="weight")
    else:
        shape = _MARKERS[marker["symbol"]]
        axes.scatter(x, y, 5, marker["color"], marker=shape, alpha=0.6, label=name, rasterized=True)


def _box(axes: "Axes", trace: dict[str, Any]) -> None:
    ends = {"whislo": "lowerfence", "q1": "q1", "med": "median", "q3": "q3", "whishi": "upperfence"}
    boxes = [
        {"label": _name(name), **{ours: trace[theirs][i] for ours, theirs in ends.items()}}
        for i, name in enumerate(trace["x"])
    ]
    axes.bxp(boxes, showfliers=False)


def _heatmap(axes: "Axes", trace: dict[str, Any]) -> None:
    image = axes.imshow(np.array(trace["z"], float), cmap="cividis", vmin=0, vmax=1)
    names = [_name(text) for text in trace["x"]]
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.figure.colorbar(image, ax=axes)


def _name(text: str) -> str:
    from html import unescape

    return unescape(text)


_DRAWERS = {"bar": _bar, "scatter": _scatter, "box": _box, "heatmap": _heatmap}
