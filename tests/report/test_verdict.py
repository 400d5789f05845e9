"""Whether a lead is one, from answers that runs kept."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.report.made_up import answered, report, run

from reweigh.errors import DataError
from reweigh.report.contents import Report
from reweigh.report.runs import Run
from reweigh.report.verdict import verdict
from reweigh.report.write import render
from reweigh.training.answers import Answers


def reported(*runs: Run) -> Report:
    return replace(report(), runs=list(runs), main=runs[0])


def said(*runs: Run) -> str:
    return verdict(reported(*runs)).replace("\xa0", " ")


def test_a_lead_is_told_from_chance(tmp_path: Path) -> None:
    errors = {"deep": 20, "uniform": 60, "trusted-only": 90, "trusted-mixed": 22}
    runs = [answered(tmp_path, m, s, wrong + s) for m, wrong in errors.items() for s in (0, 1)]
    words = said(*runs)
    assert words.startswith("On the 200 test samples it is 20.0 ± ")
    assert "points ahead of plain training, more than chance, and 1.0 ± " in words
    assert "points ahead of the strongest control (trusted-mixed), which may be chance. " in words
    assert "two-sided 95 %" in words
    assert verdict(reported(*runs)) in render(reported(*runs))


def test_one_seed_is_no_proof(tmp_path: Path) -> None:
    words = said(answered(tmp_path, "deep", 0, 20), answered(tmp_path, "uniform", 0, 60))
    assert "ahead of plain training. This is one seed: training again may differ. " in words


def test_who_is_behind_is_told_so(tmp_path: Path) -> None:
    words = said(answered(tmp_path, "deep", 0, 21), answered(tmp_path, "uniform", 0, 20))
    assert "points behind plain training, which may be chance." in words


def test_nothing_is_said_without_answers_to_the_same_samples(tmp_path: Path) -> None:
    main = answered(tmp_path, "deep", 0, 20)
    assert said(main) == ""
    assert said(main, run("uniform")) == ""  # kept by nobody
    assert said(main, answered(tmp_path, "uniform", 0, 60, first=7)) == ""
    assert said(run("deep"), run("uniform")) == ""


def test_answers_that_lost_a_part_are_told(tmp_path: Path) -> None:
    np.savez(tmp_path / "test.npz", ids=np.arange(3))
    with pytest.raises(
        DataError, match="does not hold ids, labels, last, best_by_trusted and nothing"
    ):
        Answers.of(tmp_path)
