"""The most suspicious samples, each with what a person needs to judge it."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.audit.run import Audit
from reweigh.report.evidence import Texts, evidence
from reweigh.report.words import shown

MOST = 300
ROOM = 3_000_000
"""Characters that the pictures of a page may take, which people send to each other. Our choice."""


def suspects(audit: Audit, texts: Texts | None = None) -> list[dict[str, Any]]:
    """The issues of lowest quality, as many as a page carries; the table has them all.

    Classes take turns, or one confused pair of them would fill the page.
    """
    called = audit.called
    found = (
        _suspect(audit, texts, int(i)) | {"called": shown(str(called[i]), 1000)}
        for i in in_turns(audit)[:MOST]
    )
    return list(_with_room(found))


def _with_room(found: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """As many as the page has room for, by what their pictures take."""
    taken = 0
    for one in found:
        taken += len(one["evidence"].picture or "")
        if taken > ROOM:
            return
        yield one


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
        "name": shown(name, 1000),
        "given": shown(audit.class_names[samples.labels[i]]),
        "suggested": shown(audit.class_names[audit.predicted[i]]),
        "quality": round(float(audit.quality[i]), 4),
        "weight": None if np.isnan(weight) else round(weight, 3),
        "evidence": evidence(audit, texts, i),
    }
