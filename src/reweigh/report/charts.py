"""Charts as plotly.js descriptions: plain values, drawn by the page. Here: methods and curves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reweigh.comparing.measures import Measure
from reweigh.config.methods import trains_on_trusted
from reweigh.report.colours import colour, symbol
from reweigh.report.runs import CEILINGS, Run
from reweigh.report.words import on_chart, on_chart_apart, shown

Trace = dict[str, Any]

_CURVES = {
    "trusted_error": ("Trusted error", "Share of the trusted samples that the student gets wrong."),
    "trusted_loss": ("Trusted loss", "Mean loss of the trusted samples."),
    "train_loss": ("Training loss", "Mean loss before weighing, wrong labels included."),
    "effective_share": (
        "Effective sample size",
        "As a share of the batch: 1 where all weigh alike, near 0 where few decide.",
    ),
    "teacher_updates": ("Teacher updates", "How often the teacher has learned so far."),
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
    spoken: str = ""
    """More for the alternative text: values that others read off the chart."""


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
    caption = f"Best: {best['method']}, {measure.text(best['last'], 2)}. {_whiskers(rows)}"
    return Chart("methods", f"{measure.title.partition(',')[0]} by method", caption, [bars], layout)


def _whiskers(rows: Sequence[dict[str, Any]]) -> str:
    """What the whiskers mean, and why some bars have none."""
    seeds = [row["seeds"] for row in rows]
    if max(seeds) == 1:
        return "One seed shows no spread."
    return "Whiskers: one standard deviation" + ("; one seed has none." if 1 in seeds else ".")


def curve_charts(runs: Sequence[Run]) -> list[Chart]:
    """What every epoch came to, one line a run; teacher updates of the runs that have a teacher."""
    seen = any(trains_on_trusted(run.method) for run in runs)
    charts = []
    for key, (title, caption) in _CURVES.items():
        own = [run for run in runs if _has(run, key)]
        more = _TRAINED_ON if seen and "trusted" in key else ""
        if own:
            charts.append(_curve(own, key, title, caption + more, _rows(runs)))
    return charts


def epoch_axis(last: int) -> dict[str, Any]:
    """Epochs from 1 to the last one, some eight of them with their number."""
    ticks = {"tick0": 1, "dtick": max(1, round(last / 8))}
    return {"title": {"text": "epoch"}, "zeroline": False, **ticks}


def _has(run: Run, key: str) -> bool:
    if key == "teacher_updates":  # zero throughout: no teacher learns there
        return any(row.get(key) for row in run.metrics)
    return any(key in row for row in run.metrics)


def _rows(runs: Sequence[Run]) -> list[str]:
    return list(dict.fromkeys(run.row for run in runs))


def _curve(runs: Sequence[Run], key: str, title: str, caption: str, rows: list[str]) -> Chart:
    """`rows`: of all charts, so that a method has the same colour in each."""
    lines = []
    for run in runs:
        first = all(other["legendgroup"] != run.row for other in lines)
        named = first and len(rows) > 1
        lines.append(_line(run, key, rows.index(run.row)) | {"showlegend": named})
    layout = {
        "xaxis": epoch_axis(max(line["x"][-1] for line in lines)),
        "yaxis": {"title": {"text": title.lower()}, "rangemode": "tozero"},
    }
    return Chart(key.replace("_", "-"), title, caption, lines, layout, _ends(runs, key))


def _line(run: Run, key: str, k: int) -> Trace:
    rows = [row for row in run.metrics if key in row]
    return {
        "type": "scatter", "mode": "lines+markers", "name": on_chart(run.row),
        "legendgroup": run.row,
        "x": [row["epoch"] + 1 for row in rows], "y": [row[key] for row in rows],
        "line": {"color": colour(k), "width": 2}, "marker": {"symbol": symbol(k), "size": 5},
    }  # fmt: skip


def _ends(runs: Sequence[Run], key: str) -> str:
    """The first and the last value of every run, for those who do not see the lines."""
    told = []
    for run in runs:
        values = [row[key] for row in run.metrics if row.get(key) is not None]
        if values:
            name = f"{shown(run.row, 40)}, seed {run.seed}"
            told.append(f"{name}: {values[0]:.3g}, {values[-1]:.3g}")
    return f"First and last value of {'; '.join(told)}." if told else ""
