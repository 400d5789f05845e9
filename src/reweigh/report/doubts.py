"""What to know before believing a report: runs that do not compare, and what every run warns of."""

from collections.abc import Iterator, Sequence

from reweigh.config.differences import differences
from reweigh.config.lineup import PRETRAINED
from reweigh.report.alike import by_test
from reweigh.report.contents import Report
from reweigh.report.runs import Run
from reweigh.report.words import shown

_LONGEST = 40
"""Of the name of a row in a sentence."""


def cautions(report: Report) -> tuple[str, ...]:
    """All of them, those that most runs of the table are concerned by first."""
    apart = (*_trained_otherwise(report.runs), *_tested_otherwise(report.runs))
    return (*apart, *report.remarks, *_said(report))


def _trained_otherwise(runs: Sequence[Run]) -> Iterator[str]:
    """Rows with other schedules or students; what others begin from has terms of its own."""
    terms = {run.row: run.terms for run in runs if run.row != PRETRAINED}
    words = differences(list(terms.values()))
    if any(words):
        alike: dict[str, list[str]] = {}
        for row, told in zip(terms, words, strict=True):
            alike.setdefault(told, []).append(shown(row, _LONGEST))
        told = "; ".join(f"{', '.join(rows)}: {words}" for words, rows in alike.items())
        yield f"these rows were not trained alike and do not compare ({told})"


def _tested_otherwise(runs: Sequence[Run]) -> Iterator[str]:
    """Rows with other test labels: a file of labels corrects those that were split off, too."""
    groups = by_test(runs)
    if len(groups) > 1:
        told = " against ".join(_names(group, runs) for group in groups)
        yield f"these rows were not tested on the same labels and do not compare ({told})"


def _said(report: Report) -> Iterator[str]:
    """What runs and audits warn of, each once and with the runs it is of; the main run's first."""
    audits = [(report.main, report.any_audit), report.beside or (report.main, None)]
    said: dict[str, list[Run]] = {}
    for run in (report.main, *(run for run in report.runs if run is not report.main)):
        own = [audit.cautions for who, audit in audits if who is run and audit is not None]
        for words in dict.fromkeys((*sum(own, ()), *run.result.get("cautions", ()))):
            said.setdefault(words, []).append(run)
    for words, some in said.items():
        yield words if len(some) == len(report.runs) else f"{_names(some, report.runs)}: {words}"


def _names(some: Sequence[Run], runs: Sequence[Run]) -> str:
    """Their rows, with the seeds where not all of a row are meant."""
    names = []
    for row in dict.fromkeys(run.row for run in some):
        seeds = [run.seed for run in some if run.row == row]
        whole = len(seeds) == sum(run.row == row for run in runs)
        aside = "" if whole else f", seed {', '.join(map(str, seeds))}"
        names.append(shown(row, _LONGEST) + aside)
    return "; ".join(names)
