"""The most suspicious samples, each with what a person needs to judge it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.audit.run import Audit
from reweigh.report.evidence import Texts, evidence
from reweigh.report.words import shown

MOST_PICTURES = 60
MOST_ROWS = 300


def suspects(audit: Audit, texts: Texts | None = None) -> list[dict[str, Any]]:
    """The issues of lowest quality, as many as a page carries; the table has them all.

    Classes take turns, or one confused pair of them would fill the page.
    """
    pictures = texts is None and audit.samples.inputs.ndim == 4
    chosen = in_turns(audit)[: MOST_PICTURES if pictures else MOST_ROWS]
    called = audit.samples.called()
    return [
        _suspect(audit, texts, int(i)) | {"called": shown(str(called[i]), 1000)} for i in chosen
    ]


def in_turns(audit: Audit) -> NDArray[np.int64]:
    """Positions of the issues: first the worst of every given class, then the second worst, …"""
    ranked = audit.ranked_issues()
    labels = audit.samples.labels[ranked]
    turn = np.empty(len(ranked), np.int64)
    for k in np.unique(labels):
        turn[labels == k] = np.arange((labels == k).sum())
    return ranked[np.argsort(turn, kind="stable")]


def _suspect(audit: Audit, texts: Texts | None, i: int) -> dict[str, Any]:
    samples, weight = audit.samples, float(audit.weight[i])
    name = "" if samples.names is None else str(samples.names[i])
    return {
        "id": int(samples.ids[i]),
        "name": shown(name),
        "given": shown(audit.class_names[samples.labels[i]]),
        "suggested": shown(audit.class_names[audit.predicted[i]]),
        "quality": round(float(audit.quality[i]), 4),
        "weight": None if np.isnan(weight) else round(weight, 3),
        "evidence": evidence(audit, texts, i),
    }
