import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.audit.made_up import audited, finished_run
from tests.audit.made_up_pairs import audited_pairs
from tests.report.made_up import HOSTILE, report, table

from reweigh.audit.run import audit_run
from reweigh.comparing.measures import MEASURES, measure_of
from reweigh.errors import UsageError
from reweigh.report.charts import methods_chart
from reweigh.report.citations import bibtex
from reweigh.report.contents import Report, read_report
from reweigh.report.headline import headline
from reweigh.report.runs import foremost
from reweigh.report.states import plane
from reweigh.report.suspects import in_turns, suspects
from reweigh.report.words import counted, on_chart, on_chart_apart, shown
from reweigh.report.write import render, write_report


def drawings(page: str) -> dict:
    return json.loads(re.search(r'id="drawings">(.*?)</script>', page, re.DOTALL)[1])  # pyright: ignore[reportOptionalSubscript]


def own_part(page: str) -> str:
    """The page without plotly.js, which mentions addresses that it does not ask for."""
    return page.partition('id="drawings"')[0]


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


def test_classes_take_turns() -> None:
    audit = audited()
    first = audit.samples.labels[in_turns(audit)[:3]]
    assert set(first) == {0, 1, 2}
    assert set(in_turns(audit)) == set(audit.ranked_issues())


def test_texts_stand_in_the_place_of_pictures() -> None:
    full = report()
    texts = table({"source": np.array([f"<b>{i}</b>" for i in range(300)])})
    page = own_part(render(replace(full, texts=texts)))
    assert "<img" not in page
    assert '<dt class="name">source</dt><dd class="name">&lt;b&gt;' in page


@pytest.mark.parametrize("how", ["pca", "t-sne"])
def test_states_lie_on_a_plane_and_neighbours_stay_together(how) -> None:
    audit = audited()
    at = plane(audit, how).at
    kinds = audit.look.states.argmax(axis=1)  # the states are the probabilities
    centres = np.stack([at[kinds == k].mean(axis=0) for k in range(3)])
    nearest = ((at[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == kinds).mean() > 0.9
    np.testing.assert_array_equal(at, plane(audit, how).at)
    narrow = replace(audit.look, states=audit.look.states[:, :1])
    assert plane(replace(audit, look=narrow), how).at.shape == (100, 2)


def test_two_teachers_stand_side_by_side() -> None:
    full = report()
    page = render(replace(full, beside=(full.runs[2], full.audit)))
    drawn = drawings(page)
    for key in ("weight-loss", "states-class", "states-weight"):
        assert drawn[f"{key}-beside"]["data"] == drawn[key]["data"]
        assert page.index(f'id="chart-{key}"') < page.index(f'id="chart-{key}-beside"')
    assert "Weight against loss: uniform" in page


def test_a_translator_is_judged_by_bleu_and_more_is_better() -> None:
    results = [
        {"method": row, "seed": 0, "run_id": "0" * 16, "noise_auroc": None, "train_seconds": 1.0}
        | {"bleu_last": bleu, "bleu_best_by_trusted": bleu, "trusted_loss_last": 1 / bleu}
        | {
            "tests": {
                t: {key: [bleu, bleu - d] for key in ("last", "best_by_trusted")}
                for t, d in (("flickr", 1), ("<coco>", 2))
            },
            "signature": "tok:13a",
        }
        for row, bleu in (("uniform", 30.0), ("deep", 33.0))
    ]
    made = report()
    runs = [replace(made.runs[0], row=r["method"], result=r) for r in results]
    pairs = replace(audited_pairs(), cautions=("nobody <checked> it",))
    translated = Report(runs, runs[1], None, pairs=pairs)
    assert headline(translated) == (
        "Trained with deep (reweighed, the default), the model reaches a BLEU of 33.0; plain training 30.0."
    )
    assert [row["method"] for row in translated.rows] == ["deep", "uniform"]
    assert foremost(runs) is runs[1]
    page = render(translated)
    assert "BLEU (last epoch)" in page
    assert "<td>flickr</td><td>33.00 (32.00)</td>" in page
    assert "<td>&lt;coco&gt;</td><td>30.00 (28.00)</td>" in page
    assert "tok:13a" in page
    assert 'id="samples"' not in page
    assert "<strong>Caution:</strong> deep: nobody &lt;checked&gt; it." in page
    curves = {"methods", "trusted-error", "train-loss", "effective-share"}
    assert set(drawings(page)) == curves | {"weights", "weight-loss"}
    with pytest.raises(UsageError, match="different kinds"):
        measure_of([results[0], made.runs[0].result])


def test_a_page_says_how_many_of_the_issues_it_shows(monkeypatch) -> None:
    made = report()
    issues = int(made.audit.is_issue.sum())
    assert f"All {issues} issues." in render(made)
    monkeypatch.setattr("reweigh.report.suspects.MOST", 60)
    assert f"60 of {issues} issues: the worst of every given class in turns" in render(made)


def test_one_seed_is_not_given_whiskers() -> None:
    chart = methods_chart(report().rows, MEASURES[0])
    assert chart.data[0]["error_x"]["array"][-1] is None
    alone = methods_chart(report().rows[-1:], MEASURES[0])
    assert not alone.data[0]["error_x"]["visible"]
    assert "One seed" in alone.caption
    assert "Whiskers" in chart.caption


def test_names_on_an_axis_stay_apart_and_ceilings_are_not_the_best() -> None:
    long = [f"deep (fashion-mnist-trusted-{n})" for n in (100, 200)]
    assert on_chart_apart(long) == ["deep (fashio…rusted-100)", "deep (fashio…rusted-200)"]
    assert on_chart_apart(["a", "a", "<b>"]) == ["a", "a #2", "&lt;b&gt;"]
    ceiling = {"method": "clean-labels", "last": (0.1, None), "seeds": 1}
    chart = methods_chart([ceiling, *report().rows], MEASURES[0])
    assert chart.caption.startswith("Best: deep")


def test_methods_are_cited_once_and_controls_not_at_all() -> None:
    text = bibtex(["uniform", "deep", "focal", "deep"], confident=True)
    assert [line.partition("{")[2] for line in text.splitlines() if line.startswith("@")] == [
        "fan2021deepinteractions,",
        "lin2017focal,",
        "northcutt2021confident,",
    ]
    citation = (Path(__file__).parents[2] / "CITATION.bib").read_text()
    assert citation.strip() in text
    assert bibtex(["uniform"], confident=False) == ""


def test_confident_learning_is_cited_for_labels_and_not_for_pairs() -> None:
    made = report()
    pairs = Report(made.runs, made.main, None, pairs=audited_pairs())
    assert "northcutt2021confident" in render(made)
    assert "northcutt2021confident" not in render(pairs)


def test_both_counts_of_wrong_labels_are_in_one_unit_and_told_apart() -> None:
    made = report()
    assert made.audit is not None
    page, summary = own_part(render(made)), made.audit.summary()
    for number in (summary["issues"], summary["estimated_wrong"]):
        assert f"<dd>{number} ({number / 300:.1%})</dd>" in page
    assert "never one, and any other of a quality below 0.1 always is" in page
    words = ("Quality:", "Label issues:", "AUROC of the audit:", "F1 of the issues:")
    assert all(page.index(word) < page.index('id="results"') for word in words)


def test_one_is_not_several() -> None:
    made = report()
    assert made.audit is not None
    first = made.audit.ranked_issues()[:1]
    one = np.isin(np.arange(300), first)
    page = render(replace(made, audit=replace(made.audit, is_issue=one, copies=[np.array([0, 1])])))
    assert "The only issue.</p>" in page
    assert "1 group of equal inputs with different labels: 0, 1" in page
    assert counted(2000, "group") == "2,000 groups"


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
