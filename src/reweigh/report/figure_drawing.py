"""A chart's description drawn by matplotlib, and how large that must be to be read."""

from html import unescape
from typing import TYPE_CHECKING, Any

import numpy as np

from reweigh.report.charts import Chart, Trace
from reweigh.report.class_charts import BY_NUMBER
from reweigh.report.colours import colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT, LARGEST = 4.2, 3.2, 12.0  # inches
MOST_UPRIGHT = 6
"""Classes whose names fit side by side under their boxes; more stand in rows."""
MOST_WRITTEN = 60
"""Classes that a figure names; more are numbered."""
_MARKERS = {
    "circle": "o", "diamond": "D", "square": "s", "triangle-up": "^", "x": "x", "cross": "P",
    "star": "*",
}  # fmt: skip
_ENDS = {"whislo": "lowerfence", "q1": "q1", "med": "median", "q3": "q3", "whishi": "upperfence"}


def size(chart: Chart) -> tuple[float, float]:
    """Width and height in inches: a line of text for every class or method where they have names."""
    trace = chart.data[0]
    if trace["type"] == "heatmap":
        return _matrix_size(trace)
    if trace["type"] == "box" and _lie(chart.data):
        return WIDTH, min(LARGEST, max(HEIGHT, 0.8 + 0.17 * len(chart.data)))
    if trace.get("orientation") == "h":
        return WIDTH, min(LARGEST, 0.8 + 0.28 * len(trace["y"]))
    return WIDTH, HEIGHT + 0.16 * (len(_in_legend(chart)) // 3)


def _matrix_size(trace: Trace) -> tuple[float, float]:
    """Square cells, and the names beside and below them."""
    cell, letter = (0.3, 0.07) if "text" in trace else (0.14, 0.05)
    names = [_name(text) for text in trace["meta"]]
    side = max(2.0, cell * len(names)) + 0.5 + letter * max(map(len, names))
    return min(LARGEST, side + 0.8), min(LARGEST, side)


def _lie(traces: list[Trace]) -> bool:
    """Whether boxes stand in rows: their names do not fit side by side."""
    return len(traces) > MOST_UPRIGHT or any(len(_name(t["name"])) > 10 for t in traces)


def draw(axes: "Axes", chart: Chart) -> None:
    """Draw one chart; names were made fit for plotly and are turned back."""
    from matplotlib.ticker import MultipleLocator

    x, y = chart.layout["xaxis"], chart.layout["yaxis"]
    axes.set_xlabel(_title(x))
    axes.set_ylabel(_title(y))
    axes.spines[["top", "right"]].set_visible(False)
    _DRAWERS[chart.data[0]["type"]](axes, chart.data)
    _from_zero(axes, chart)
    if "dtick" in x:
        axes.xaxis.set_major_locator(MultipleLocator(x["dtick"], x["tick0"]))
    if names := _in_legend(chart):
        columns = 2 if max(map(len, names)) > 14 else 4
        where = {"loc": "outside lower center", "ncols": columns, "frameon": False, "fontsize": 7}
        where["markerscale"] = 2 if chart.data[0].get("mode") == "markers" else 1
        axes.figure.legend(**where)  # pyright: ignore[reportAttributeAccessIssue] (it is a Figure)


def _title(axis: dict[str, Any]) -> str:
    """Without the page's remark on numbers: figures have names."""
    return axis.get("title", {}).get("text", "").removesuffix(BY_NUMBER)


def _in_legend(chart: Chart) -> list[str]:
    names = [_name(t["name"]) for t in chart.data if t.get("showlegend", True) and "name" in t]
    return names if len(names) > 1 else []


def _from_zero(axes: "Axes", chart: Chart) -> None:
    """`rangemode: tozero` of plotly; boxes that lie down have their values on the other axis."""
    tozero = {name for name in ("xaxis", "yaxis") if chart.layout[name].get("rangemode")}
    if chart.data[0]["type"] == "box" and _lie(chart.data):
        tozero = {"xaxis"}
    ends = axes.dataLim
    if "xaxis" in tozero and ends.x0 >= 0 < ends.x1:
        axes.set_xlim(0, ends.x1 * 1.05)
    if "yaxis" in tozero and ends.y0 >= 0 < ends.y1:
        axes.set_ylim(0, ends.y1 * 1.05)


def _bars(axes: "Axes", traces: list[Trace]) -> None:
    for trace in traces:
        paint = trace["marker"]["color"]
        if trace.get("orientation") == "h":
            spread = np.array(trace["error_x"]["array"], float)  # NaN where None: no whisker
            names = [_name(text) for text in trace["y"]]
            axes.barh(names, trace["x"], xerr=spread, color=paint)
            axes.invert_yaxis()
        else:
            width = trace["x"][1] - trace["x"][0]
            name = _name(trace["name"])
            axes.bar(trace["x"], trace["y"], width, color=paint, alpha=0.7, label=name)


def _scatters(axes: "Axes", traces: list[Trace]) -> None:
    for trace in traces:
        x, y = np.array(trace["x"], float), np.array(trace["y"], float)
        named = trace.get("showlegend", True) and "name" in trace
        label = _name(trace["name"]) if named else None
        if "lines" in trace["mode"]:
            _line(axes, trace, x, y, label)
        else:
            _dots(axes, trace["marker"], x, y, label)


def _line(axes: "Axes", trace: Trace, x: Any, y: Any, label: str | None) -> None:
    paint = trace["line"]["color"]
    if trace.get("fill"):
        axes.fill(x, y, color=paint, alpha=0.5 * trace["opacity"], linewidth=0, label=label)
    else:
        mark = {"marker": _MARKERS[trace["marker"]["symbol"]], "markersize": 3}
        axes.plot(x, y, color=paint, label=label, markevery=max(1, len(x) // 10), **mark)


def _dots(axes: "Axes", marker: dict[str, Any], x: Any, y: Any, label: str | None) -> None:
    if isinstance(marker["color"], list):
        values = np.array(marker["color"], float)
        ends = {"cmap": "cividis", "vmin": 0, "vmax": marker["cmax"]}
        edge = {"edgecolors": "#777777", "linewidths": 0.2}
        dots = axes.scatter(x, y, 7, values, rasterized=True, **ends, **edge)
        axes.figure.colorbar(dots, ax=axes, label="weight")
    else:
        shape = _MARKERS[marker["symbol"]]
        axes.scatter(
            x, y, 5, marker["color"], marker=shape, alpha=0.6, label=label, rasterized=True
        )


def _boxes(axes: "Axes", traces: list[Trace]) -> None:
    key = "name" if len(traces) <= MOST_WRITTEN else "x"
    boxes = [
        {"label": _name("".join(trace[key]))} | {ours: trace[its][0] for ours, its in _ENDS.items()}
        for trace in traces
    ]
    style = {"showfliers": False, "widths": 0.6, "medianprops": {"color": colour(0), "lw": 1.5}}
    if not _lie(traces):
        axes.bxp(boxes, **style)
        return
    axes.bxp(boxes, orientation="horizontal", **style)
    axes.invert_yaxis()
    title = axes.get_xlabel()
    axes.set_xlabel(axes.get_ylabel())
    axes.set_ylabel(title)


def _heatmap(axes: "Axes", traces: list[Trace]) -> None:
    (trace,) = traces
    shares = np.array(trace["z"], float)
    image = axes.imshow(shares, cmap="cividis", vmin=0, vmax=1)
    if len(shares) <= MOST_WRITTEN:
        names = [_name(text) for text in trace["meta"]]
        letters = 8 if "text" in trace else 6
        axes.set_xticks(range(len(names)), names, rotation=90, fontsize=letters)
        axes.set_yticks(range(len(names)), names, fontsize=letters)
    for i, j in np.ndindex(shares.shape if "text" in trace else (0, 0)):
        ink = "white" if shares[i, j] < 0.5 else "black"
        axes.text(j, i, trace["text"][i][j], ha="center", va="center", color=ink, fontsize=6)
    axes.figure.colorbar(image, ax=axes, shrink=0.8)


def _name(text: str) -> str:
    return unescape(text)


_DRAWERS = {"bar": _bars, "scatter": _scatters, "box": _boxes, "heatmap": _heatmap}
