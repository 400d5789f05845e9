"""Runs in, one folder out: `index.html` with everything inside, and the audit's table beside it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reweigh import __version__, signals
from reweigh.audit.audited import Audited
from reweigh.audit.issues import HARDLY_RIGHT
from reweigh.audit.run import Audit, audit_run
from reweigh.config import RunConfig
from reweigh.data.table_file import write_columns
from reweigh.errors import UsageError
from reweigh.replacing import write_atomically
from reweigh.report.charts import Chart, curve_charts, methods_chart
from reweigh.report.citations import bibtex
from reweigh.report.class_charts import MOST_NAMES, most_confused
from reweigh.report.doubts import cautions
from reweigh.report.evidence import Texts, texts_of
from reweigh.report.headline import about, headline, to_compare
from reweigh.report.pairs import pair_charts, pair_findings
from reweigh.report.reading import read_runs
from reweigh.report.runs import Run, counterpart, foremost, table, test_sets
from reweigh.report.sample_charts import audit_charts, side_by_side
from reweigh.report.states import How
from reweigh.report.suspects import suspects
from reweigh.report.verdict import verdict
from reweigh.report.weight_history import weight_history_charts
from reweigh.report.words import counted, shown
from reweigh.training.measures import Measure, measure_of
from reweigh.training.run import settings_of

if TYPE_CHECKING:
    from reweigh.audit.pairs import PairAudit

INDEX = "index.html"
MARK = '<meta name="generator" content="reweigh report">'


@dataclass(frozen=True)
class Report:
    """What a report is made from."""

    runs: list[Run]
    main: Run
    audit: Audit | None
    """Of the main run's labels; None where it learns from something else, such as sentence pairs."""
    texts: Texts | None = None
    """What people read of a sample that is no picture."""
    beside: tuple[Run, Audit] | None = None
    """A run whose teacher sees something else, to compare with."""
    states: How = "pca"
    pairs: "PairAudit | None" = None
    """Of the main run's sentence pairs, if it translates."""
    remarks: tuple[str, ...] = ()
    """What was said of the folders: runs that are missing or were left out."""

    @property
    def any_audit(self) -> Audited | None:
        """Of the main run, whatever it learns from."""
        return self.audit if self.audit is not None else self.pairs

    @property
    def measure(self) -> Measure:
        """What the runs are judged by."""
        return measure_of([run.result for run in self.runs])

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Of the table of methods."""
        return table(self.runs)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What to know before believing the headline."""
        return cautions(self)

    @cached_property
    def charts(self) -> list[Chart]:
        """All charts, the answer first where there is something to compare; t-SNE takes a while."""
        answer = [methods_chart(self.rows, self.measure)] if len(self.rows) > 1 else []
        own = [] if self.audit is None else audit_charts(self.audit, self.states)
        own += [] if self.pairs is None else pair_charts(self.pairs)
        if self.beside is not None:
            run, audit = self.beside
            names = shown(self.main.row, 40), shown(run.row, 40)
            own = side_by_side(own, audit_charts(audit, self.states), names)
        curves = [*curve_charts(self.runs), *weight_history_charts(self.main)]
        return [*answer, *curves, *own]


def read_report(folders: Sequence[Path], states: How = "pca") -> Report:
    """Read the runs and audit the foremost of them, and the one to stand beside it."""
    found = read_runs(folders)
    runs, main = found.runs, foremost(found.runs)
    signals.check()
    config = settings_of(main.folder)
    if not isinstance(config, RunConfig):
        from reweigh.audit.pairs import audit_pairs  # a Transformer, for those who translate

        return Report(runs, main, None, pairs=audit_pairs(main.folder), remarks=found.remarks)
    other = counterpart(runs, main)
    audit = audit_run(main.folder)
    return Report(
        runs,
        main,
        audit,
        texts=texts_of(main.folder, audit),
        beside=None if other is None else (other, audit_run(other.folder)),
        states=states,
        remarks=found.remarks,
    )


def write_report(report: Report, out: Path) -> Path:
    """Write the page and the table into `out`; an earlier report there is renewed.

    Returns the page's path.
    """
    page = render(report)
    signals.check()
    index = out / INDEX
    if index.is_file() and MARK not in index.read_text(encoding="utf-8", errors="replace")[:2000]:
        raise UsageError(f"{index} is not a report of ours and stays; choose another --out.")
    try:
        out.mkdir(parents=True, exist_ok=True)
        if (audit := report.any_audit) is not None:
            write_columns(audit.columns, len(audit), out / "audit.csv")
        write_atomically(index, page)
    except OSError as error:
        raise UsageError(f"Cannot write the report to {out}: {error.strerror}.") from error
    return index


def missing_packages() -> str | None:
    """The sentence for what a report needs and is not installed; None where all is there."""
    missing = [name for name in ("jinja2", "plotly", "PIL") if find_spec(name) is None]
    if not missing:
        return None
    return (
        f"A report needs {' and '.join(missing)}, not installed here; "
        "run `pip install 'reweigh[report]'`."
    )


def render(report: Report) -> str:
    """The page as text, without any address outside itself."""
    if (missing := missing_packages()) is not None:
        raise UsageError(missing)
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    environment = Environment(
        loader=PackageLoader("reweigh.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    text = environment.get_template("page.html").render(
        **_content(report),
        mark=Markup(MARK),  # noqa: S704 (our own constant)
        plotly=Markup(get_plotlyjs()),  # noqa: S704 (the library itself)
    )
    return text.encode("utf-8", "replace").decode("utf-8")


def _content(report: Report) -> dict[str, Any]:
    """Everything that the page says, by name."""
    main, charts = report.main, report.charts
    return {
        "version": __version__,
        "run_name": shown(main.folder.name),
        "main": main,
        "rows": report.rows,
        "measure": report.measure,
        "test_sets": test_sets(report.runs),
        "signature": main.result.get("signature", ""),
        "beside": "" if report.beside is None else shown(report.beside[0].folder.name),
        "headline": headline(report),
        "verdict": verdict(report),
        "about": about(report),
        "to_compare": to_compare(report),
        "counted": counted,
        "cautions": report.cautions,
        "charts": {chart.key: chart for chart in charts},
        "drawings": {c.key: {"data": c.data, "layout": c.layout} for c in charts},
        "environment": json.dumps(
            {k: v for k, v in main.environment.items() if k != "folder"}, indent=2
        ),
        "bibtex": bibtex((run.result["method"] for run in report.runs), report.audit is not None),
        "audited": report.audit is not None,
        "pairs": None if report.pairs is None else pair_findings(report.pairs),
        **({} if report.audit is None else _findings(report.audit, report.texts)),
    }


def _findings(audit: Audit, texts: Texts | None) -> dict[str, Any]:
    """What the page says of the labels."""
    found, summary = suspects(audit, texts), audit.summary()
    return {
        "summary": summary,
        "hardly_right": HARDLY_RIGHT,
        "class_rows": [{**row, "class": shown(row["class"])} for row in summary["classes"]],
        "numbered": len(audit.class_names) > MOST_NAMES,
        "confused": most_confused(audit),
        "suspects": found,
        "texts": bool(found and found[0]["evidence"].columns),
        "given_labels": sorted({s["given"] for s in found}),
        "suggested_labels": sorted({s["suggested"] for s in found}),
    }
