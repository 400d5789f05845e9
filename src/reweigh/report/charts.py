"""Charts as plotly.js descriptions: plain values, drawn by the page. Here: methods and curves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reweigh.config.methods import trains_on_trusted
from reweigh.report.colours import colour, symbol
from reweigh.report.runs import CEILINGS, Run
from reweigh.report.words import on_chart, on_chart_apart
from reweigh.training.measures import Measure

Trace = dict[str, Any]

_CURVES = {
    "trusted_error": ("Trusted error", "Share of the trusted samples that the student gets wrong."),
    "trusted_loss": ("Trusted loss", "Mean loss of the trusted samples."),
    "train_loss": ("Training loss", "Mean loss before weighing, wrong labels included."),
    "effective_share": ("Effective share", "Share of a batch that weighs in; 1: all alike."),
}
"""By the name of the figure in a run's metrics."""
_TRAINED_ON = " Methods that train on them as well fit them: no measure of new samples."


@dataclass(frozen=True)
class Chart:
    """One chart: what it is called, what it shows in a sentence (also its alternative text)."""

    key: str
    title: str
    caption: str
    data: list[Trace]
    layout: dict[str, Any]


def methods_chart(rows: Sequence[dict[str, Any]], measure: Measure) -> Chart:
    """Test error or BLEU of each method, with its spread; the best on top."""
    names = on_chart_apart([row["method"] for row in rows])
    spreads = [row["last"][1] for row in rows]
    spread = {"type": "data", "array": spreads, "visible": any(s is not None for s in spreads)}
    bars = {
        "type": "bar", "orientation": "h", "y": names, "error_x": spread,
        "x": [round(row["last"][0], 3) for row in rows], "marker": {"color": colour(0)},
    }  # fmt: skip
    layout = {
        "xaxis": {"title": {"text": f"{measure.title} (last epoch)"}, "rangemode": "tozero"},
        "yaxis": {"autorange": "reversed", "type": "category"},
        "height": 120 + 34 * len(rows),
    }
    best = next((row for row in rows if row["method"] not in CEILINGS), rows[0])
    several = any(row["seeds"] > 1 for row in rows)
    whiskers = "Whiskers: one deviation." if several else "One seed shows no spread."
    caption = f"Best: {best['method']}, {measure.text(best['last'], 2)}. {whiskers}"
    return Chart("methods", f"{measure.title.partition(',')[0]} by method", caption, [bars], layout)


def curve_charts(runs: Sequence[Run]) -> list[Chart]:
    """How good on the trusted set, training loss and effective share by epoch, one line a run."""
    known = {key for run in runs for row in run.metrics for key in row}
    seen = any(trains_on_trusted(run.method) for run in runs)
    return [
        _curve(runs, key, title, caption + (_TRAINED_ON if seen and "trusted" in key else ""))
        for key, (title, caption) in _CURVES.items()
        if key in known
    ]


def _curve(runs: Sequence[Run], key: str, title: str, caption: str) -> Chart:
    methods = list(dict.fromkeys(run.row for run in runs))
    lines = []
    for run in runs:
        k = methods.index(run.row)
        first = all(other["legendgroup"] != run.row for other in lines)
        rows = [row for row in run.metrics if key in row]
        lines.append(
            {
                "type": "scatter", "mode": "lines+markers", "name": on_chart(run.row),
                "legendgroup": run.row, "showlegend": first,
                "x": [row["epoch"] + 1 for row in rows], "y": [row[key] for row in rows],
                "line": {"color": colour(k), "width": 2},
                "marker": {"symbol": symbol(k), "size": 5},
            }
        )  # fmt: skip
    longest = max(len(line["x"]) for line in lines)
    layout = {
        "xaxis": {"title": {"text": "epoch"}, "tick0": 1, "dtick": max(1, round(longest / 8))},
        "yaxis": {"title": {"text": title.lower()}, "rangemode": "tozero"},
    }
    return Chart(key.replace("_", "-"), title, caption, lines, layout)
