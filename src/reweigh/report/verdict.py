"""Whether the run shown is better than plain training and the controls, or may be so by chance."""

from collections.abc import Sequence

import numpy as np

from reweigh.comparing.lead import HOW, Lead, Wrong, lead
from reweigh.report.alike import trained_alike
from reweigh.report.contents import Report
from reweigh.report.headline import PLAIN
from reweigh.report.runs import Run
from reweigh.report.words import counted, shown, unbroken

CONTROLS = ("trusted-only", "trusted-mixed")


def verdict(report: Report) -> str:
    """In a sentence or two, with what the uncertainty is; empty where no answers were kept."""
    rivals = _rivals(report)
    rows = {who: [r for r in report.runs if r.row == row] for who, row in rivals.items()}
    own = [run for run in report.runs if run.row == report.main.row]
    found = _wrong([own, *rows.values()])
    if not rivals or found is None:
        return ""
    leads = {who: lead(found[0], other) for who, other in zip(rows, found[1:], strict=True)}
    words = ", and ".join(_told(one, who) for who, one in leads.items())
    size = counted(found[0].shape[1], "test sample")
    once = (
        " This is one seed: training again may differ." if any(map(_unsure, leads.values())) else ""
    )
    return unbroken(f"On the {size} it is {words}.{once} {HOW}")


def _rivals(report: Report) -> dict[str, str]:
    """What they are called, and their rows: plain training, and the control that does best."""
    last = {row["method"]: report.measure.order(row["last"]) for row in report.rows}
    found = [run.row for run in trained_alike(report, [PLAIN]).values()]
    controls = [run.row for run in trained_alike(report, CONTROLS).values()]
    best = sorted(controls, key=lambda row: last[row])[:1]
    names = [f"the strongest control ({shown(row, 40)})" for row in best]
    return dict(zip(["plain training"] * len(found) + names, found + best, strict=True))


def _wrong(groups: Sequence[Sequence[Run]]) -> list[Wrong] | None:
    """Which test samples the last students got wrong; None unless all answered the same ones."""
    kept = [[run.answers for run in runs] for runs in groups]
    first = kept[0][0]
    found = []
    for some in kept:
        same = [one for one in some if one and first and one.asked_as(first)]
        if len(same) < len(some):
            return None
        found.append(np.stack([one.last != one.labels for one in same]))
    return found


def _told(one: Lead, who: str) -> str:
    way = "ahead of" if one.points >= 0 else "behind"
    sure = ", more than chance" if one.beyond_chance else ", which may be chance"
    return (
        f"{abs(one.points):.1f} ± {one.within:.1f} points {way} {who}{'' if _unsure(one) else sure}"
    )


def _unsure(one: Lead) -> bool:
    """More than the test set's size explains, but perhaps not more than training again would."""
    return one.beyond_chance and one.one_seed
