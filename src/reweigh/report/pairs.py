"""Sentence pairs on the page: how well planted noise was found, and the pairs to look at."""

from typing import TYPE_CHECKING, Any

import numpy as np

from reweigh.evenly_spread import evenly_spread
from reweigh.report.charts import Chart
from reweigh.report.colours import RIGHT, WRONG
from reweigh.report.evidence import LONGEST
from reweigh.report.sample_charts import Group, weight_and_loss_chart, weights_chart
from reweigh.report.states import WHOSE_WEIGHT
from reweigh.report.words import shown

if TYPE_CHECKING:
    from reweigh.audit.pairs import PairAudit

MOST_PAIRS = 300
MOST_DOTS = 2000
SIDES = ("source", "target")


def pair_findings(pairs: "PairAudit") -> dict[str, Any]:
    """What the page says of the pairs."""
    rows = pairs.worst(MOST_PAIRS)
    return {
        "rows": [row | {side: shown(row[side], LONGEST) for side in SIDES} for row in rows],
        "total": len(pairs),
        "detection": pairs.detection,
        "as_written": pairs.text is not None,
        "planted": pairs.changed is not None,
    }


def pair_charts(pairs: "PairAudit") -> list[Chart]:
    """What the weights say of the pairs; nothing where nobody gave weights."""
    if np.isnan(pairs.weight).all():
        return []
    gather = "Pairs with planted noise should gather on the left."
    words = gather if pairs.changed is not None else "Of all pairs."
    bars = weights_chart(pairs.weight, _groups(pairs), "pairs", words)
    return [bars, _weight_and_loss(pairs)]


def _weight_and_loss(pairs: "PairAudit") -> Chart:
    dots = evenly_spread(len(pairs), MOST_DOTS)
    among = [(name, paint, member[dots]) for name, paint, member in _groups(pairs)]
    caption = (
        f"{len(dots):,} pairs: the loss by the student of the best epoch, and {WHOSE_WEIGHT}. "
        "Weights that are a curve of the loss alone lie near one line."
    )
    axis = "mean loss of a target token"
    return weight_and_loss_chart(pairs.loss[dots], pairs.weight[dots], among, axis, caption)


def _groups(pairs: "PairAudit") -> list[Group]:
    """Pairs in two where noise was planted, else all in one."""
    if pairs.changed is None:
        return [("all pairs", RIGHT, np.ones(len(pairs), bool))]
    return [("untouched pairs", RIGHT, ~pairs.changed), ("masked pairs", WRONG, pairs.changed)]
