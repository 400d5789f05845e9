"""A report as one folder: `index.html` with everything inside, and the audit's table beside it."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from reweigh import __version__, signals
from reweigh.audit.issues import HARDLY_RIGHT
from reweigh.audit.run import Audit
from reweigh.data.checked_share import told
from reweigh.data.table_file import write_columns
from reweigh.errors import UsageError
from reweigh.replacing import write_atomically
from reweigh.report.citations import bibtex
from reweigh.report.class_charts import MOST_NAMES, most_confused
from reweigh.report.contents import Report
from reweigh.report.doubts import cautions
from reweigh.report.evidence import Texts
from reweigh.report.headline import about, headline, to_compare
from reweigh.report.pairs import pair_findings
from reweigh.report.runs import test_sets
from reweigh.report.suspects import suspects
from reweigh.report.verdict import verdict
from reweigh.report.words import counted, shown

INDEX = "index.html"
MARK = '<meta name="generator" content="reweigh report">'


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
        "cautions": cautions(report),
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
        "checked": told(audit.checked),
        "hardly_right": HARDLY_RIGHT,
        "class_rows": [{**row, "class": shown(row["class"])} for row in summary["classes"]],
        "numbered": len(audit.class_names) > MOST_NAMES,
        "confused": most_confused(audit),
        "suspects": found,
        "texts": bool(found and found[0]["evidence"].columns),
        "given_labels": sorted({s["given"] for s in found}),
        "suggested_labels": sorted({s["suggested"] for s in found}),
    }
