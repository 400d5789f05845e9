"""Runs whose errors compare with those of the run shown: trained alike, and tested alike."""

from collections.abc import Iterable, Sequence
from typing import Any

from reweigh.config.writing import defining
from reweigh.report.contents import Report
from reweigh.report.runs import Run


def trained_alike(report: Report, methods: Iterable[str]) -> dict[str, Run]:
    """A run of each other method with the main run's student, schedule and test; if there, of its labels."""
    main, found = report.main, {}
    for method in methods:
        alike = [
            run
            for run in report.runs
            if run.result["method"] == method
            and run.terms == main.terms
            and _tested_alike(run, main)
        ]
        if alike and method != main.result["method"]:
            found[method] = min(alike, key=lambda run: _data(run) != _data(main))
    return found


def by_test(runs: Sequence[Run]) -> list[list[Run]]:
    """Those of one group were tested alike: `data.labels` may correct test samples, too."""
    groups: list[list[Run]] = []
    for run in runs:
        its = next((group for group in groups if _tested_alike(run, group[0])), None)
        groups.append([run]) if its is None else its.append(run)
    return groups


def _tested_alike(run: Run, other: Run) -> bool:
    """On the same samples and labels; where nobody kept them, under the same file of labels."""
    if run.answers is not None and other.answers is not None:
        return run.answers.asked_as(other.answers)
    return _relabelled_by(run) == _relabelled_by(other)


def _relabelled_by(run: Run) -> tuple[Any, ...]:
    return tuple(_data(run).get(key) for key in ("labels", "true_labels"))


def _data(run: Run) -> dict[str, Any]:
    return defining(run.settings).get("data", {})
