"""Charts of the samples: what the weights, the internal states and the noise matrix look like."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.audit.run import Audit
from reweigh.report.charts import Chart
from reweigh.report.colours import RIGHT, SCALE, WRONG, colour, symbol
from reweigh.report.words import on_chart

BINS = 40


def audit_charts(audit: Audit) -> list[Chart]:
    """What the weights and the student say of the samples; charts of weights only if there are."""
    if np.isnan(audit.weight).all():
        return [_states_by_class(audit), _noise(audit)]
    return [
        _weights(audit), _weight_and_loss(audit), _weights_by_class(audit),
        _states_by_class(audit), _states_by_weight(audit), _noise(audit),
    ]  # fmt: skip


def groups(audit: Audit) -> list[tuple[str, str, NDArray[np.bool_]]]:
    """Samples in two: by the truth where it is known, else by the audit's own verdict."""
    known = audit.true_labels is not None
    bad = audit.samples.labels != audit.true_labels if known else audit.is_issue
    words = ("right labels", "wrong labels") if known else ("no issue found", "label issues")
    return [(words[0], RIGHT, ~bad), (words[1], WRONG, bad)]


def _weights(audit: Audit) -> Chart:
    seen = audit.weight[~np.isnan(audit.weight)]
    edges = np.linspace(0, float(np.quantile(seen, 0.995)) or 1.0, BINS + 1)
    bars = []
    for name, paint, member in groups(audit):
        counts, _ = np.histogram(np.minimum(audit.weight[member], edges[-1]), bins=edges)
        bars.append(
            {
                "type": "bar", "name": name, "x": _plain((edges[1:] + edges[:-1]) / 2),
                "y": counts.tolist(), "marker": {"color": paint}, "opacity": 0.75,
            }
        )  # fmt: skip
    layout = {
        "barmode": "overlay", "bargap": 0.02,
        "xaxis": {"title": {"text": "weight (1 = average)"}}, "yaxis": {"title": {"text": "samples"}},
    }  # fmt: skip
    known = audit.true_labels is not None
    caption = (
        "Planted wrong labels should gather at 0." if known else "The audit's issues and the rest."
    )
    return Chart("weights", "Distribution of the weights", caption, bars, layout)


def _weight_and_loss(audit: Audit) -> Chart:
    part = np.isin(np.arange(len(audit.samples)), audit.look.shown)
    labels = audit.samples.labels
    p = audit.look.probabilities[np.arange(len(labels)), labels]
    loss = -np.log(np.maximum(p, 1e-6))  # (n,)
    dots = [
        {
            "type": "scatter", "mode": "markers", "name": name,
            "x": _plain(loss[member & part]), "y": _plain(audit.weight[member & part]),
            "marker": {"color": paint, "size": 5, "opacity": 0.6, "symbol": mark},
        }
        for (name, paint, member), mark in zip(groups(audit), ("circle", "x"), strict=True)
    ]  # fmt: skip
    layout = {
        "xaxis": {"title": {"text": "loss of the given label"}},
        "yaxis": {"title": {"text": "weight"}, "rangemode": "tozero"},
    }
    caption = f"{int(part.sum()):,} samples; a curve of the loss alone would be one line here."
    return Chart("weight-loss", "Weight against loss", caption, dots, layout)


def _weights_by_class(audit: Audit) -> Chart:
    labels = audit.samples.labels
    present = [k for k in range(len(audit.class_names)) if _of_class(audit, k).size]
    marks = np.array(
        [np.quantile(_of_class(audit, k), (0.05, 0.25, 0.5, 0.75, 0.95)) for k in present]
    )
    box = {
        "type": "box", "x": [on_chart(audit.class_names[k]) for k in present],
        "marker": {"color": colour(0)}, "showlegend": False,
    } | {
        name: _plain(marks[:, i])
        for i, name in enumerate(("lowerfence", "q1", "median", "q3", "upperfence"))
    }  # fmt: skip
    layout = {
        "xaxis": {"title": {"text": "given label"}, "type": "category"},
        "yaxis": {"title": {"text": "weight"}, "rangemode": "tozero"},
    }
    caption = f"Quartiles, 5 and 95 % of {len(labels):,} samples, by given label."
    return Chart("class-weights", "Weights by given label", caption, [box], layout)


def _of_class(audit: Audit, k: int) -> NDArray[np.float32]:
    weights = audit.weight[audit.samples.labels == k]
    return weights[~np.isnan(weights)]


def _states_by_class(audit: Audit) -> Chart:
    at, labels = principal(audit), audit.samples.labels[audit.look.shown]
    dots = [
        {
            "type": "scatter", "mode": "markers", "name": on_chart(name),
            "x": _plain(at[labels == k, 0]), "y": _plain(at[labels == k, 1]),
            "marker": {"color": colour(k), "symbol": symbol(k), "size": 5, "opacity": 0.75},
        }
        for k, name in enumerate(audit.class_names)
    ]  # fmt: skip
    caption = f"What the last layer sees of {len(at):,} samples, first two principal components."
    return Chart("states-class", "Internal states by given label", caption, dots, _components())


def _states_by_weight(audit: Audit) -> Chart:
    at, weight = principal(audit), audit.weight[audit.look.shown]
    ceiling = float(np.nanquantile(weight, 0.98)) if np.isfinite(weight).any() else 1.0
    marker = {
        "color": _plain(weight), "colorscale": SCALE, "cmin": 0, "cmax": ceiling, "size": 5,
        "colorbar": {"title": {"text": "weight"}, "thickness": 12},
    }  # fmt: skip
    dots = {"type": "scatter", "mode": "markers", "x": _plain(at[:, 0]), "y": _plain(at[:, 1])}
    caption = "The same points; dark ones the teacher does not believe."
    return Chart(
        "states-weight",
        "Internal states by weight",
        caption,
        [dots | {"marker": marker}],
        _components(),
    )


def _noise(audit: Audit) -> Chart:
    names = [on_chart(name) for name in audit.class_names]
    heat = {
        "type": "heatmap", "x": names, "y": names, "colorscale": SCALE, "zmin": 0, "zmax": 1,
        "z": _plain(audit.noise_matrix), "colorbar": {"thickness": 12},
        "xgap": 1, "ygap": 1,
    }  # fmt: skip
    if len(names) <= 12:
        heat |= {
            "text": [[f"{x:.0%}" if x >= 0.005 else "" for x in row] for row in audit.noise_matrix],
            "texttemplate": "%{text}",
        }
    layout = {
        "xaxis": {"title": {"text": "suggested label"}, "type": "category"},
        "yaxis": {"title": {"text": "given label"}, "type": "category", "autorange": "reversed"},
        "height": 440,
    }
    caption = "Estimated share of each given label (row) that is of another class (column)."
    return Chart("noise-matrix", "Which class is taken for which", caption, [heat], layout)


def principal(audit: Audit) -> NDArray[np.floating]:
    """The shown states (m, 2) along their first two principal components."""
    x = audit.look.states - audit.look.states.mean(axis=0)
    _, _, v = np.linalg.svd(x, full_matrices=False)
    at = x @ v[:2].T
    return np.pad(at, ((0, 0), (0, 2 - at.shape[1])))


def _components() -> dict[str, Any]:
    return {
        "xaxis": {"title": {"text": "first component"}, "zeroline": False},
        "yaxis": {"title": {"text": "second component"}, "zeroline": False},
    }


def _plain(values: NDArray[Any]) -> list[Any]:
    """Nested lists for JSON, four figures, null for what is not finite."""
    if values.ndim > 1:
        return [_plain(row) for row in values]
    return [float(f"{x:.4g}") if np.isfinite(x) else None for x in values.tolist()]
