"""Charts with an axis of classes: the weights of each, and which is taken for which."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.audit.run import Audit
from reweigh.report.charts import Chart, Trace
from reweigh.report.colours import SCALE, colour
from reweigh.report.words import on_chart_apart, plain, shown

MOST_NAMES = 12
"""Classes whose names an axis has room for; more are numbered, in the order of the table of classes."""
MOST_GAPS = 20
"""Classes between whose cells lines are drawn; narrow cells would be all lines."""
MOST_CONFUSED = 10
BY_NUMBER = ", by number"
"""What an axis' title adds where classes have numbers."""


def weights_by_class(audit: Audit) -> Chart:
    """The weights of every given label as a box."""
    marks, names = _on_axis(audit.class_names), on_chart_apart(audit.class_names)
    boxes = [
        _box(weights, marks[k], names[k])
        for k in range(len(names))
        if (weights := _of_class(audit, k)).size
    ]
    layout = {
        "xaxis": {"title": {"text": _title("given label", names)}, "type": "category"},
        "yaxis": {"title": {"text": "weight"}, "rangemode": "tozero"},
    }
    caption = f"Quartiles, 5 and 95 % of {len(audit.samples):,} samples, by given label."
    return Chart("class-weights", "Weights by given label", caption + _told(names), boxes, layout)


def noise_chart(audit: Audit) -> Chart:
    """The estimated noise matrix."""
    marks, names = _on_axis(audit.class_names), on_chart_apart(audit.class_names)
    gap = int(len(names) <= MOST_GAPS)
    heat = {
        "type": "heatmap", "x": marks, "y": marks, "colorscale": SCALE, "zmin": 0, "zmax": 1,
        "z": plain(audit.noise_matrix), "colorbar": {"thickness": 12}, "xgap": gap, "ygap": gap,
        "meta": names, "hovertemplate": "%{hovertext}: %{z:.1%}<extra></extra>",
    }  # fmt: skip
    if len(names) <= MOST_NAMES:
        heat |= _numbers(audit.noise_matrix)
    caption = (
        "Estimated share of each given label (row) that is of each class (column); what is off the "
        "diagonal is wrong."
    ) + ("" if audit.look.known.all() else " A class that is not judged stands there as right.")
    title = "Which class is taken for which"
    return Chart("noise-matrix", title, caption + _told(names), [heat], _square(names))


def most_confused(audit: Audit) -> list[dict[str, Any]]:
    """The pairs of classes with the most labels of one that are the other, for axes without names."""
    if len(audit.class_names) <= MOST_NAMES:
        return []
    share = audit.noise_matrix
    labels = np.bincount(audit.samples.labels, minlength=len(share))  # (K,)
    wrong = labels[:, None] * share * (1 - np.eye(len(share)))  # (K, K)
    worst = np.argsort(-wrong, axis=None, kind="stable")[:MOST_CONFUSED]
    pairs = [(int(i), int(j)) for i, j in zip(*np.unravel_index(worst, wrong.shape), strict=True)]
    return [
        {
            "given": f"{i}: {shown(audit.class_names[i])}",
            "suggested": f"{j}: {shown(audit.class_names[j])}",
            "share": float(share[i, j]),
            "labels": round(float(wrong[i, j])),
        }
        for i, j in pairs
        if wrong[i, j] >= 0.5
    ]


def _on_axis(names: Sequence[str]) -> list[str]:
    many = len(names) > MOST_NAMES
    return [str(k) for k in range(len(names))] if many else on_chart_apart(names)


def _title(text: str, names: Sequence[str]) -> str:
    return text + BY_NUMBER if len(names) > MOST_NAMES else text


def _told(names: Sequence[str]) -> str:
    """What the caption adds where the axis has numbers."""
    return (
        " Classes have the numbers of the table by given label." if len(names) > MOST_NAMES else ""
    )


def _box(weights: NDArray[np.float32], mark: str, name: str) -> Trace:
    ends = np.quantile(weights, (0.05, 0.25, 0.5, 0.75, 0.95))
    box = {
        "type": "box", "x": [mark], "name": name, "marker": {"color": colour(0)},
        "showlegend": False, "hoverlabel": {"namelength": -1},
    }  # fmt: skip
    keys = ("lowerfence", "q1", "median", "q3", "upperfence")
    return box | {key: [value] for key, value in zip(keys, plain(ends), strict=True)}


def _of_class(audit: Audit, k: int) -> NDArray[np.float32]:
    weights = audit.weight[audit.samples.labels == k]
    return weights[~np.isnan(weights)]


def _numbers(matrix: NDArray[np.float64]) -> Trace:
    """Shares written into the cells."""
    return {
        "text": [[f"{x:.0%}" if x >= 0.005 else "" for x in row] for row in matrix],
        "texttemplate": "%{text}",
        "textfont": {"size": 14 if len(matrix) <= 6 else 10},
    }


def _square(names: Sequence[str]) -> dict[str, Any]:
    """Given labels downwards, suggested ones to the right; more classes, more room."""
    return {
        "xaxis": {"title": {"text": _title("suggested label", names)}, "type": "category"},
        "yaxis": {
            "title": {"text": _title("given label", names), "standoff": 14},
            "type": "category", "autorange": "reversed", "automargin": True,
        },
        "height": 440 + min(320, 6 * max(0, len(names) - MOST_NAMES)),
    }  # fmt: skip
