import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.audit.made_up import audited, finished_run
from tests.report.made_up import HOSTILE, report

from reweigh.audit.run import audit_run
from reweigh.errors import UsageError
from reweigh.report.charts import methods_chart
from reweigh.report.citations import bibtex
from reweigh.report.sample_charts import principal
from reweigh.report.suspects import MOST_PICTURES, in_turns, suspects
from reweigh.report.words import on_chart, shown
from reweigh.report.write import Report, headline, read_report, render, write_report


def drawings(page: str) -> dict:
    return json.loads(re.search(r'id="drawings">(.*?)</script>', page, re.DOTALL)[1])  # pyright: ignore[reportOptionalSubscript]


def own_part(page: str) -> str:
    """The page without plotly.js, which mentions addresses that it does not ask for."""
    return page.partition('id="drawings"')[0]


def test_the_answer_comes_first_and_beside_the_baselines() -> None:
    assert headline(report()) == (
        "deep gets 5.5 ± 0.7 % of the test samples wrong; plain training 25.0 %; "
        "the trusted samples alone 20.0 %."
    )


def test_every_chart_has_a_place_and_an_alternative_text() -> None:
    page = render(report())
    drawn = drawings(page)
    assert {"methods", "trusted-error", "weights", "states-class", "noise-matrix"} <= set(drawn)
    for key in drawn:
        assert re.search(rf'id="chart-{key}" role="img" aria-label="[^"]{{10,}}"', page)
    assert page.count('alt="Sample ') == len(suspects(report().audit))


def test_nothing_is_asked_of_a_network() -> None:
    assert not re.search(r'(src|href)="(?!data:|#|audit\.csv)', own_part(render(report())))


def test_names_are_text() -> None:
    page = render(report(hostile=True))
    for text in HOSTILE:
        if "<" in text and len(text) < 100:
            assert text not in own_part(page)
    assert "49" not in re.findall(r'data-name="([^"]*)"', page)
    drawings(page)
    page.encode("utf-8")
    assert on_chart("<b>x</b> & y") == "&lt;b&gt;x&lt;/b&gt; &amp; y"
    assert len(shown("x" * 10_000)) == 120


def test_a_page_without_suspicious_samples_says_so() -> None:
    full = report()
    clean = replace(full.audit, is_issue=np.zeros(300, bool))
    page = render(Report(full.runs, full.main, clean))
    assert "No label looks wrong." in page
    assert 'id="suspects"' not in page


def test_a_page_without_weights_has_no_charts_of_them() -> None:
    full = report()
    audit = replace(full.audit, weight=np.full(300, np.nan, np.float32))
    page = render(Report(full.runs[:1], full.main, audit))
    assert "gives no weights" in page
    assert not {"weights", "weight-loss", "class-weights", "methods"} & set(drawings(page))


def test_pictures_are_few_and_classes_take_turns() -> None:
    audit = audited()
    assert len(suspects(audit)) <= MOST_PICTURES
    first = audit.samples.labels[in_turns(audit)[:3]]
    assert set(first) == {0, 1, 2}
    assert set(in_turns(audit)) == set(audit.ranked_issues())


def test_rows_of_tables_show_values_and_no_picture() -> None:
    audit = audited()
    flat = replace(audit.samples, inputs=audit.samples.inputs.reshape(300, -1).astype(np.float32))
    (first, *_) = suspects(replace(audit, samples=flat))
    assert first["picture"] is None
    assert first["values"].count(",") == 5


def test_one_internal_unit_is_enough_for_two_components() -> None:
    audit = audited()
    narrow = replace(audit.look, states=audit.look.states[:, :1])
    assert principal(replace(audit, look=narrow)).shape == (100, 2)


def test_one_seed_is_not_given_whiskers() -> None:
    chart = methods_chart(report().rows)
    assert chart.data[0]["error_x"]["array"][-1] is None
    assert "One seed" in chart.caption


def test_methods_are_cited_once_and_controls_not_at_all() -> None:
    text = bibtex(["uniform", "deep", "focal", "deep"])
    assert [line.partition("{")[2] for line in text.splitlines() if line.startswith("@")] == [
        "fan2021deepinteractions,",
        "lin2017focal,",
        "northcutt2021confident,",
    ]
    citation = (Path(__file__).parents[2] / "CITATION.bib").read_text()
    assert citation.strip() in text


def test_a_report_is_renewed_but_a_strangers_page_stays(tmp_path: Path) -> None:
    page = write_report(report(), tmp_path / "out")
    assert write_report(report(), tmp_path / "out") == page
    assert sorted(p.name for p in page.parent.iterdir()) == ["audit.csv", "index.html"]
    page.write_text("mine")
    with pytest.raises(UsageError, match="not a report of ours"):
        write_report(report(), tmp_path / "out")
    assert page.read_text() == "mine"


def test_a_real_run_is_read_audited_and_small(tmp_path: Path) -> None:
    home = finished_run(tmp_path / "run")
    found = read_report([home])
    np.testing.assert_array_equal(found.audit.quality, audit_run(home).quality)
    assert write_report(found, home / "report").stat().st_size < 10_000_000
