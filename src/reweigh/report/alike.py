"""Runs that were trained as the run shown was, by the names of their methods."""

from collections.abc import Iterable
from typing import Any

from reweigh.config.writing import defining
from reweigh.report.contents import Report
from reweigh.report.runs import Run


def trained_alike(report: Report, methods: Iterable[str]) -> dict[str, Run]:
    """A run of each other method with the main run's student and schedule; if there, of its labels."""
    main, found = report.main, {}
    for method in methods:
        alike = [r for r in report.runs if r.result["method"] == method and r.terms == main.terms]
        if alike and method != main.result["method"]:
            found[method] = min(alike, key=lambda run: _data(run) != _data(main))
    return found


def _data(run: Run) -> dict[str, Any]:
    return defining(run.settings).get("data", {})
