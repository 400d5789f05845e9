"""The first lines of a report: the answer, what it is of, and how to learn whether it is good."""

import shlex
from typing import Any

from reweigh.comparing.measures import ERROR, Value
from reweigh.comparing.test_size import by_size, worth_telling
from reweigh.config.lineup import LINEUP
from reweigh.config.writing import defining, length, plain_values
from reweigh.report.alike import trained_alike
from reweigh.report.contents import Report
from reweigh.report.runs import Run
from reweigh.report.words import counted, shown, unbroken
from reweigh.training.tasks.classification import default_model

PLAIN = "uniform"
DEFAULT = "deep"
BASELINES = {PLAIN: "plain training", "trusted-only": "the trusted samples alone"}


def headline(report: Report) -> str:
    """The answer in a sentence: the error or BLEU, beside the baselines that were trained alike."""
    rows = {row["method"]: row["last"] for row in report.rows}
    measure, own = report.measure, report.main.row
    who = shown(own) + (f" ({words})" if (words := _known_as(report.main)) else "")
    text = measure.sentence.format(who=who, how_much=measure.text(rows[own]))
    others = [
        f"{BASELINES[method]} {measure.text(rows[run.row])}"
        for method, run in trained_alike(report, BASELINES).items()
    ]
    first = text[0].upper() + text[1:] + _by_size(report, rows[own])
    return unbroken("; ".join([first, *others]) + ".")


def about(report: Report) -> str:
    """What the headline is of: data, noise, samples, student, epochs, seeds, date."""
    main = report.main
    values = defining(main.settings)
    data = values.get("data", {})
    noise = data.get("noise")
    parts = [
        shown(data.get("name", ""), 60),
        "no planted noise" if noise == "none" else f"noise {shown(noise, 60)}" if noise else "",
        _sizes(report),
        _student(report, values.get("student", {})),
        length(values.get("training", {})),
        counted(sum(run.row == main.row for run in report.runs), "seed"),
        main.ended[:10],
    ]
    return " · ".join(part for part in parts if part)


def to_compare(report: Report) -> str:
    """The command that sets the baselines beside the main run; empty where plain training is on the page."""
    main = report.main
    if PLAIN in (main.result["method"], *trained_alike(report, [PLAIN])):
        return ""
    row = next((row for row, one in LINEUP.items() if plain_values(one) == main.method), None)
    config = shlex.quote(str(main.given / "config.toml"))
    rows = [*BASELINES, *([row] if row and row not in BASELINES else [])]
    return f"reweigh compare {config} --methods {','.join(rows)}"


def _known_as(main: Run) -> str:
    """What a row called plainly by its method is: plain training, the default, or how it differs."""
    if main.row == PLAIN:
        return "plain training"
    if main.row != DEFAULT:
        return ""
    usual = plain_values(LINEUP[DEFAULT])
    other = [f"{k}={v}" for k, v in main.method.items() if usual.get(k) != v]
    return shown(", ".join(other)) or "reweighed, the default"


def _by_size(report: Report, value: Value) -> str:
    """The standard error that the size of the test set implies, which no spread over seeds covers."""
    if report.measure is not ERROR or report.audit is None:
        return ""
    points = 100 * by_size(value[0] / 100, report.audit.not_judged["test"])
    return f" (± {points:.1f} by the size of the test set)" if worth_telling(points, value) else ""


def _sizes(report: Report) -> str:
    if report.pairs is not None:
        return counted(len(report.pairs), "training pair")
    if report.audit is None:
        return ""
    aside = report.audit.not_judged
    numbers = (len(report.audit.samples), aside["trusted"], aside["test"])
    return "{:,} training, {:,} trusted, {:,} test samples".format(*numbers)


def _student(report: Report, settings: dict[str, Any]) -> str:
    """Its name; which one `auto` stands for depends on the samples."""
    name = settings.get("model", "")
    if name == "auto" and report.audit is not None:
        *rest, channels = report.audit.samples.inputs.shape[1:]
        name = default_model((channels, *rest))
    return f"student {shown(name, 60)}" if name else ""
