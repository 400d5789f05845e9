"""Reports that take no training: made-up runs around a made-up audit."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from tests.audit.made_up import audited

from reweigh.data.columns import Columns
from reweigh.report.contents import Report
from reweigh.report.evidence import Texts
from reweigh.report.runs import Run
from reweigh.report.suspects import in_turns
from reweigh.training.answers import Answers

HOSTILE = (
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"><svg onload=alert(1)>",
    "' onmouseover='alert(1)", "{{7*7}}", "{% raw %}", "${7*7}", "%{x}", "javascript:alert(1)",
    "<a href='http://example.com'>x</a>", "<b>bold</b>", "&lt;i&gt;", "&amp;", "</script><script>alert(1)",
    "<!--", "]]>", "\u202egnitfel", "\u200b", "\ud800", "x" * 10_000, "=HYPERLINK(\"http://example.com\")",
    "+1", "-1", "+1+1", "-2+3", "@SUM(A1)", "a,b\n\"c\"", "\x00\x07", "$\\frac{1}{2}$", "é漢字🙂",
    "<style>*{display:none}</style>", "'=1+1",
    "<link rel=stylesheet href=http://example.com>",
)  # fmt: skip


def run(row: str, seed: int = 0, error: float = 0.1, weighed: Path | None = None) -> Run:
    """A run that never was; `weighed` is a folder that holds weights."""
    result = {
        "method": row, "seed": seed, "run_id": "0" * 16, "test_error_last": error,
        "test_error_best_by_trusted": error, "trusted_error_last": error, "noise_auroc": None,
        "train_seconds": 2.0,
    }  # fmt: skip
    rows = [
        {"epoch": e, "trusted_error": 0.5 / (e + 1), "train_loss": 1.0, "effective_share": None}
        for e in range(3)
    ]
    folder = weighed or Path(f"{row}_s{seed}")
    made = Run(folder, row, result, rows, {"python": "3"}, "seed = 0\n", "reweigh train")
    return replace(made, given=Path("runs") / folder.name)


def answered(
    home: Path, method: str, seed: int, wrong: int, first: int = 0, corrected: int = 0
) -> Run:
    """A run that got so many of 200 test samples wrong, and said so; the last labels were corrected."""
    folder = home / f"{method}_s{seed}"
    folder.mkdir()
    labels = (np.arange(200) >= 200 - corrected).astype(np.int64)
    last = labels ^ (np.arange(200) < wrong)
    Answers(np.arange(200) + first, labels, last, last).save(folder)
    return replace(run(method, seed, wrong / 200), folder=folder)


def table(values: dict[str, np.ndarray], labels: np.ndarray | None = None) -> Texts:
    """The 300 rows behind the samples of `report`."""
    labels = report().audit.samples.labels if labels is None else labels
    return Texts(Columns(values, Path("t.csv")), tuple(values), np.arange(300), labels, 3)


def report(flipped: float = 0.3, hostile: bool = False) -> Report:
    """Three methods, one of them foremost; hostile names everywhere if asked.

    The samples on the page take the names in turns, so that every one of them is shown.
    """
    classes = HOSTILE[:3] if hostile else ("cat", "dog", "owl")
    texts = HOSTILE if hostile else ("a.png", "b.png")
    audit = audited(classes, flipped=flipped)
    turns = np.arange(len(audit.samples))
    turns[in_turns(audit)] = np.arange(audit.is_issue.sum())
    names = np.array([texts[i % len(texts)] for i in turns])
    row = HOSTILE[0] if hostile else "deep"
    runs = [run(row, s, 0.05 + s / 100) for s in (0, 1)]
    runs += [run("uniform", error=0.25), run("trusted-only", error=0.2)]
    return Report(runs, runs[0], replace(audit, samples=replace(audit.samples, names=names)))
