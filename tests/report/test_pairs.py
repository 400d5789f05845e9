import json
import re
from dataclasses import replace

import pytest
from tests.audit.made_up_pairs import audited_pairs
from tests.report.made_up import report

from reweigh.audit.pairs import PairAudit
from reweigh.report.contents import Report
from reweigh.report.pairs import MOST_PAIRS, pair_charts, pair_findings
from reweigh.report.write import render


def page_of(pairs: PairAudit) -> str:
    made = report()
    return render(Report(made.runs, made.main, None, pairs=pairs))


def test_the_worst_pairs_come_first_and_as_many_as_a_page_carries() -> None:
    pairs = audited_pairs()
    rows = pair_findings(pairs)["rows"]
    quality = [row["label_quality"] for row in rows]
    assert len(rows) == MOST_PAIRS < len(pairs)
    assert quality == sorted(quality)
    page = page_of(pairs)
    assert page.count("<dt>source</dt>") == MOST_PAIRS
    assert f"The {MOST_PAIRS} of lowest quality among 400 pairs" in page


def test_sentences_are_those_of_the_file_but_where_noise_was_planted() -> None:
    pairs = audited_pairs()
    assert pairs.changed is not None
    assert pairs.text is not None
    for k, changed in enumerate(pairs.changed):
        source, target = pairs.sentences(k)
        assert ("<MASK>" in source + target) == changed
        assert changed or (source, target) == (pairs.text.source[k], pairs.text.target[k])
    page = page_of(pairs)
    assert "@peter kauft &lt;b&gt;Haus&lt;/b&gt;" in page
    assert "what the student reads instead" in page
    assert "The sentences are tokens" in page_of(replace(pairs, text=None))


def test_detection_stands_on_top_where_noise_was_planted() -> None:
    pairs = audited_pairs()
    truth = pairs.detection
    assert truth is not None
    page = page_of(pairs)
    assert f"<dt>AUROC of the audit</dt><dd>{truth['auroc']:.3f}</dd>" in page
    assert f"<dt>average precision</dt><dd>{truth['average_precision']:.3f}</dd>" in page
    assert "AUROC of the audit" not in page_of(audited_pairs(planted=False))


@pytest.mark.parametrize("planted", [True, False])
def test_charts_of_the_weights_tell_masked_pairs_apart(planted: bool) -> None:
    bars, dots = pair_charts(audited_pairs(planted=planted))
    names = ["untouched pairs", "masked pairs"] if planted else ["all pairs"]
    for chart in (bars, dots):
        assert [trace["name"] for trace in chart.data] == names
    assert sum(sum(trace["y"]) for trace in bars.data) == 400
    assert sum(len(trace["x"]) for trace in dots.data) == 400


def test_a_page_without_weights_has_no_charts_of_them() -> None:
    page = page_of(audited_pairs(weighed=False))
    drawn = re.search(r'id="drawings">(.*?)</script>', page, re.DOTALL)
    assert drawn is not None
    assert not {"weights", "weight-loss"} & set(json.loads(drawn[1]))
    assert "#weights-section" not in page
