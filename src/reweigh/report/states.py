"""The student's internal states on a plane: by principal components, or by t-SNE."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from reweigh.audit.run import Audit
from reweigh.audit.weights import LAST_EPOCHS
from reweigh.report.charts import Chart
from reweigh.report.class_charts import MOST_NAMES
from reweigh.report.colours import SCALE, colour, symbol
from reweigh.report.words import on_chart_apart, plain

How = Literal["pca", "t-sne"]
_WORDS = {
    "pca": ("component", "first two principal components"),
    "t-sne": ("coordinate", "t-SNE: neighbours stay near, distances mean little"),
}
WHOSE_WEIGHT = f"the mean weight of the last epochs ({LAST_EPOCHS} at most)"
"""What a chart that shows weights says of them."""


@dataclass(frozen=True)
class Plane:
    """The shown states as points (m, 2), and how they were laid out."""

    at: NDArray[np.floating]
    how: How


def plane(audit: Audit, how: How) -> Plane:
    """The states of the samples that the audit shows, laid out."""
    states = audit.look.states
    return Plane(principal(states) if how == "pca" else _t_sne(states), how)


def principal(states: NDArray[np.floating]) -> NDArray[np.floating]:
    """States (m, d) along their first two principal components, (m, 2)."""
    x = states - states.mean(axis=0)
    _, _, v = np.linalg.svd(x, full_matrices=False)
    at = x @ v[:2].T
    return np.pad(at, ((0, 0), (0, 2 - at.shape[1])))


def _t_sne(states: NDArray[np.floating]) -> NDArray[np.floating]:
    """t-SNE (van der Maaten and Hinton 2008) begun at the principal components; the same again."""
    from sklearn.manifold import TSNE

    m, d = states.shape
    if m < 4 or d < 2:  # no neighbourhoods, or no plane to begin in
        return principal(states)
    return TSNE(perplexity=min(30.0, (m - 1) / 3), init="pca", random_state=0).fit_transform(states)


def states_by_class(audit: Audit, on: Plane) -> Chart:
    """One colour and mark a given label; many of them need no legend, but to be pointed at."""
    labels, few = audit.samples.labels[audit.look.shown], len(audit.class_names) <= MOST_NAMES
    dots = [
        {
            "type": "scatter", "mode": "markers", "name": name, "showlegend": few,
            "x": plain(on.at[labels == k, 0]), "y": plain(on.at[labels == k, 1]),
            "hoverinfo": "name", "hoverlabel": {"namelength": -1},
            "marker": {"color": colour(k), "symbol": symbol(k), "size": 5, "opacity": 0.75},
        }
        for k, name in enumerate(on_chart_apart(audit.class_names))
    ]  # fmt: skip
    caption = (
        f"What the last layer of the student of the last epoch sees of {len(on.at):,} samples: "
        f"{_WORDS[on.how][1]}." + ("" if few else " Point at one to see its given label.")
    )
    return Chart("states-class", "Internal states by given label", caption, dots, _axes(on))


def states_by_weight(audit: Audit, on: Plane) -> Chart:
    """The same points, the bluer the less the teacher believes."""
    weight = audit.weight[audit.look.shown]
    ceiling = float(np.nanquantile(weight, 0.98)) if np.isfinite(weight).any() else 1.0
    marker = {
        "color": plain(weight), "colorscale": SCALE, "cmin": 0, "cmax": ceiling, "size": 5,
        "colorbar": {"title": {"text": "weight"}, "thickness": 12},
    }  # fmt: skip
    dots = {"type": "scatter", "mode": "markers", "x": plain(on.at[:, 0]), "y": plain(on.at[:, 1])}
    caption = f"The same points by {WHOSE_WEIGHT}; the bluer, the less the teacher believes."
    traces = [dots | {"marker": marker}]
    return Chart("states-weight", "Internal states by weight", caption, traces, _axes(on))


def _axes(on: Plane) -> dict[str, dict[str, object]]:
    word = _WORDS[on.how][0]
    return {
        "xaxis": {"title": {"text": f"first {word}"}, "zeroline": False},
        "yaxis": {"title": {"text": f"second {word}"}, "zeroline": False},
    }
