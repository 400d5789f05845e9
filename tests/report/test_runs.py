from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.made_up import run

from reweigh.report.runs import Run, counterpart, foremost, table


def test_the_foremost_weighs_and_does_not_know_the_truth(tmp_path: Path) -> None:
    (tmp_path / "weights").mkdir()
    weak, ceiling = run("deep", error=0.3, weighed=tmp_path), run("perfect-weights", error=0.0)
    assert foremost([run("uniform", error=0.1), ceiling, weak]) is weak
    assert foremost([run("uniform", error=0.1), run("trusted-only", error=0.2)]).row == "uniform"
    assert foremost([ceiling]) is ceiling


def test_beside_an_internal_teacher_stands_the_foremost_surface_one(tmp_path: Path) -> None:
    (tmp_path / "weights").mkdir()
    deep, linear, weak, curve = (
        run(row, error=error, weighed=tmp_path)
        for row, error in (("deep", 0.1), ("deep", 0.2), ("focal", 0.3), ("meta-weight-net", 0.2))
    )
    ceiling = run("perfect-weights", error=0.0, weighed=tmp_path)
    runs = [linear, weak, curve, deep, ceiling, run("uniform", error=0.1)]
    assert counterpart(runs, deep) is curve
    assert counterpart(runs, curve) is deep
    assert counterpart([deep, linear], deep) is None


def test_the_table_is_in_percent_and_one_seed_has_no_spread() -> None:
    best, plain = table([run("uniform", error=0.2), run("deep", 0, 0.1), run("deep", 1, 0.12)])
    assert (best["method"], best["seeds"]) == ("deep", 2)
    assert best["last"] == (pytest.approx(11.0), pytest.approx(2**0.5))
    assert plain["last"] == (pytest.approx(20.0), None)


def test_a_teacher_is_internal_by_what_it_sees(tmp_path: Path) -> None:
    """The paper's figure: one method, a teacher on M1 beside one on I0 and M0."""
    (tmp_path / "weights").mkdir()

    def paper(features: str) -> Run:
        text = f'[method]\nname = "deep"\nteacher = "linear"\nfeatures = {features}\n'
        return replace(run("deep", weighed=tmp_path), settings=text)

    surface, inside = paper('["M1"]'), paper('["I0", "M0"]')
    assert counterpart([surface, inside], inside) is surface
    assert counterpart([surface, inside], surface) is inside


def test_training_on_the_trusted_samples_is_no_lead(tmp_path: Path) -> None:
    (tmp_path / "weights").mkdir()
    mixed = '[method]\nname = "deep"\ntrusted_share = 0.1\n'
    default = replace(run("deep", error=0.2, weighed=tmp_path), settings=mixed)
    assert foremost([run("focal", error=0.1, weighed=tmp_path), default]) is default
