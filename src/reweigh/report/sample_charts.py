"""Charts of the samples: what the weights, the internal states and the noise matrix look like."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reweigh.audit.run import Audit
from reweigh.report.charts import Chart
from reweigh.report.class_charts import noise_chart, weights_by_class
from reweigh.report.colours import RIGHT, WRONG
from reweigh.report.states import WHOSE_WEIGHT, How, plane, states_by_class, states_by_weight
from reweigh.report.words import plain

Group: TypeAlias = tuple[str, str, NDArray[np.bool_]]  # its name, its colour, who is in it
BINS = 40
MARKS = {RIGHT: "circle", WRONG: "x"}
PAPER = ("weight-loss", "states-class", "states-weight")
"""The charts that make the paper's figure."""


def audit_charts(audit: Audit, states: How) -> list[Chart]:
    """What the weights and the student say of the samples; charts of weights only if there are."""
    on = plane(audit, states)
    if np.isnan(audit.weight).all():
        return [states_by_class(audit, on), noise_chart(audit)]
    return [
        _weights(audit), _weight_and_loss(audit), weights_by_class(audit),
        states_by_class(audit, on), states_by_weight(audit, on), noise_chart(audit),
    ]  # fmt: skip


def side_by_side(charts: list[Chart], others: list[Chart], names: tuple[str, str]) -> list[Chart]:
    """The charts of a run, and the paper's figure of another one to stand beside its own."""
    named = [_named(chart, names[0]) for chart in charts]
    beside = [_named(chart, names[1]) for chart in others if chart.key in PAPER]
    return named + [replace(chart, key=f"{chart.key}-beside") for chart in beside]


def _named(chart: Chart, name: str) -> Chart:
    return replace(chart, title=f"{chart.title}: {name}") if chart.key in PAPER else chart


def groups(audit: Audit) -> list[Group]:
    """Samples in two: by the truth where it is known, else by the audit's own verdict."""
    known = audit.true_labels is not None
    bad = audit.samples.labels != audit.true_labels if known else audit.is_issue
    words = ("right labels", "wrong labels") if known else ("no issue found", "label issues")
    return [(words[0], RIGHT, ~bad), (words[1], WRONG, bad)]


def _weights(audit: Audit) -> Chart:
    known = audit.true_labels is not None
    caption = (
        "Planted wrong labels should gather on the left."
        if known
        else "The audit's issues and the rest."
    )
    return weights_chart(audit.weight, groups(audit), "samples", caption)


def weights_chart(
    weight: NDArray[np.float32], among: Sequence[Group], what: str, caption: str
) -> Chart:
    """The weights (n,) of every group as bars; `what` is counted."""
    seen = weight[~np.isnan(weight)]
    edges = np.linspace(0, float(np.quantile(seen, 0.995)) or 1.0, BINS + 1)
    bars = []
    for name, paint, member in among:
        counts, _ = np.histogram(np.minimum(weight[member], edges[-1]), bins=edges)
        bars.append(
            {
                "type": "bar", "name": name, "x": plain((edges[1:] + edges[:-1]) / 2),
                "y": counts.tolist(), "marker": {"color": paint}, "opacity": 0.75,
            }
        )  # fmt: skip
    layout = {
        "barmode": "overlay", "bargap": 0.02,
        "xaxis": {"title": {"text": "weight"}}, "yaxis": {"title": {"text": what}},
    }  # fmt: skip
    return Chart("weights", "Distribution of the weights", caption, bars, layout)


def _weight_and_loss(audit: Audit) -> Chart:
    shown = audit.look.shown
    among = [(name, paint, member[shown]) for name, paint, member in groups(audit)]
    caption = (
        f"{len(shown):,} samples: the loss by the student of the last epoch, and {WHOSE_WEIGHT}. "
        "Weights that are a curve of the loss alone lie near one line."
    )
    axis = "loss of the given label"
    return weight_and_loss_chart(audit.look.losses, audit.weight[shown], among, axis, caption)


def weight_and_loss_chart(
    loss: NDArray[np.float32],
    weight: NDArray[np.float32],
    among: Sequence[Group],
    axis: str,
    caption: str,
) -> Chart:
    """Losses (m,) and weights (m,) of every group as dots; `axis` says whose loss."""
    dots = [
        {
            "type": "scatter", "mode": "markers", "name": name,
            "x": plain(loss[member]), "y": plain(weight[member]),
            "marker": {"color": paint, "size": 5, "opacity": 0.6, "symbol": MARKS[paint]},
        }
        for name, paint, member in among
    ]  # fmt: skip
    layout = {
        "xaxis": {"title": {"text": axis}},
        "yaxis": {"title": {"text": "weight"}, "rangemode": "tozero"},
    }
    return Chart("weight-loss", "Weight against loss", caption, dots, layout)
