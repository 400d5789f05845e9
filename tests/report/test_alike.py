"""Errors compare only on the same test samples under the same labels."""

from dataclasses import replace
from pathlib import Path

from tests.report.made_up import answered, report, run

from reweigh.report.contents import Report
from reweigh.report.doubts import cautions
from reweigh.report.headline import headline, to_compare
from reweigh.report.runs import Run
from reweigh.report.verdict import verdict
from reweigh.report.write import render

APART = "these rows were not tested on the same labels and do not compare"


def reported(*runs: Run) -> Report:
    return replace(report(), runs=list(runs), main=runs[0])


def relabelled(made: Run, file: str) -> Run:
    return replace(made, settings=f'[data]\nlabels = "{file}"\n')


def test_a_baseline_under_other_test_labels_is_no_baseline(tmp_path: Path) -> None:
    main = answered(tmp_path, "deep", 0, 20, corrected=30)
    plain = answered(tmp_path, "uniform", 0, 60)
    made = reported(main, plain)
    assert "plain training" not in headline(made)
    assert verdict(made) == ""
    assert to_compare(made).endswith("--methods uniform,trusted-only")
    assert cautions(made) == (f"{APART} (deep against uniform)",)
    assert APART in render(made)


def test_the_baseline_under_the_same_test_labels_is_found_among_others(tmp_path: Path) -> None:
    main = answered(tmp_path, "deep", 0, 20, corrected=30)
    before = replace(answered(tmp_path, "uniform", 0, 60), row="uniform (before)")
    again = replace(answered(tmp_path, "uniform", 1, 40, corrected=30), row="uniform (again)")
    made = reported(main, before, again)
    assert "plain training 20.0\xa0%" in headline(made)
    assert "ahead of plain training" in verdict(made)
    assert cautions(made) == (f"{APART} (deep; uniform (again) against uniform (before))",)


def test_a_file_of_labels_that_leaves_the_test_set_alone_changes_nothing(tmp_path: Path) -> None:
    main = relabelled(answered(tmp_path, "deep", 0, 20), "second.csv")
    made = reported(main, answered(tmp_path, "uniform", 0, 60))
    assert "plain training 30.0\xa0%" in headline(made)
    assert cautions(made) == ()


def test_where_nobody_kept_the_answers_the_file_of_labels_tells() -> None:
    main, plain = relabelled(run("deep"), "a.csv"), relabelled(run("uniform"), "a.csv")
    assert "plain training" in headline(reported(main, plain))
    assert "plain training" not in headline(reported(main, relabelled(plain, "b.csv")))
    assert cautions(reported(main, run("uniform"))) == (f"{APART} (deep against uniform)",)
