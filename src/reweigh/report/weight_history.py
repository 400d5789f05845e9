"""How the teacher's weights spread from epoch to epoch, from the files that a run keeps of them."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reweigh import signals
from reweigh.evenly_spread import evenly_spread
from reweigh.report.charts import Chart, Trace, epoch_axis
from reweigh.report.colours import colour
from reweigh.report.runs import Run
from reweigh.report.words import plain, shown
from reweigh.run_files import kept_samples
from reweigh.training.weight_store import WeightStore

MOST = 20_000
"""Samples that are read of every epoch: quantiles need no more."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def weight_history(folder: Path) -> tuple[list[int], NDArray[np.float64]]:
    """The epochs in which samples in doubt were weighed, and the quantiles (epochs, 5) of their weights."""
    trusted = kept_samples(folder, "trusted")["trusted"]  # (n,)
    doubtful = np.flatnonzero(~trusted)
    some = doubtful[evenly_spread(len(doubtful), MOST)]
    store = WeightStore(folder / "weights", len(trusted))
    found = {}
    for epoch in store.epochs():
        signals.check()
        weights = store.epoch(epoch)[some]
        if (seen := weights[~np.isnan(weights)]).size:
            found[epoch] = np.quantile(seen, QUANTILES)
    return list(found), np.array(list(found.values()))


def weight_history_charts(run: Run) -> list[Chart]:
    """Median, middle half and middle nine tenths by epoch; none of a run with fewer than two to show."""
    epochs, at = weight_history(run.folder) if run.weighed else ([], np.empty((0, len(QUANTILES))))
    return [_chart(epochs, at, shown(run.row, 40))] if len(epochs) > 1 else []


def _chart(epochs: list[int], at: NDArray[np.float64], name: str) -> Chart:
    x = [epoch + 1 for epoch in epochs]
    traces = [
        _band(x, at[:, 0], at[:, 4], "5 to 95 %", 0.4),
        _band(x, at[:, 1], at[:, 3], "25 to 75 %", 0.9),
        _median(x, at),
    ]
    layout = {
        "xaxis": epoch_axis(x[-1]),
        "yaxis": {"title": {"text": "weight"}, "rangemode": "tozero"},
    }
    caption = (
        f"How far apart {name} weighs the samples in doubt: a band that closes weighs all alike."
    )
    spoken = f"First epoch: {_told(at[0])}. Last: {_told(at[-1])}."
    return Chart("weight-history", "Weights by epoch", caption, traces, layout, spoken)


def _band(
    x: list[int], low: NDArray[np.float64], high: NDArray[np.float64], name: str, opacity: float
) -> Trace:
    """A closed line around the area: along its lower edge, and back along the upper one."""
    return {
        "type": "scatter", "mode": "lines", "name": name, "fill": "toself", "hoverinfo": "skip",
        "x": x + x[::-1], "y": plain(np.concatenate([low, high[::-1]])),
        "line": {"color": colour(0), "width": 0}, "opacity": opacity,
    }  # fmt: skip


def _median(x: list[int], at: NDArray[np.float64]) -> Trace:
    return {
        "type": "scatter", "mode": "lines+markers", "name": "median", "x": x, "y": plain(at[:, 2]),
        "text": [_told(row) for row in at], "hoverinfo": "x+text",
        "line": {"color": colour(0), "width": 2}, "marker": {"symbol": "circle", "size": 4},
    }  # fmt: skip


def _told(row: NDArray[np.float64]) -> str:
    return ", ".join(f"{q:.0%}: {value:.3g}" for q, value in zip(QUANTILES, row, strict=True))
