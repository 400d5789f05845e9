import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.audit.made_up import finished_run
from tests.report.made_up import run

from reweigh.errors import UsageError
from reweigh.report.runs import Run, counterpart, foremost, read_runs, table


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    return finished_run(tmp_path_factory.mktemp("runs") / "first", "method.name=uniform")


def test_a_run_and_a_folder_of_runs_are_both_read_and_each_once(home: Path) -> None:
    (alone,) = read_runs([home])
    assert alone.row == "uniform"
    assert len(alone.metrics) == 2
    assert [r.folder for r in read_runs([home, home.parent])] == [alone.folder]


def test_a_comparison_names_its_rows(home: Path, tmp_path: Path) -> None:
    (alone,) = read_runs([home])
    named = tmp_path / f"plain-twice_s0_{alone.result['run_id'][:8]}"
    shutil.copytree(home, named)
    assert read_runs([tmp_path])[0].row == "plain-twice"


def test_what_holds_no_finished_run_is_refused(home: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no finished run"):
        read_runs([tmp_path])
    copy = Path(shutil.copytree(home, tmp_path / "copy"))
    (copy / "result.json").unlink()
    with pytest.raises(UsageError, match="has not finished"):
        read_runs([copy])


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


def test_runs_of_different_settings_are_not_averaged(home: Path, tmp_path: Path) -> None:
    first = Path(shutil.copytree(home, tmp_path / "first"))
    other = Path(shutil.copytree(home, tmp_path / "other"))
    seed = Path(shutil.copytree(home, tmp_path / "seed"))
    settings = (first / "config.toml").read_text()
    (other / "config.toml").write_text(settings.replace("lr = ", "lr = 1"))
    (seed / "config.toml").write_text(settings.replace("seed = 0", "seed = 1"))
    rows = table(read_runs([first, other, seed]))
    assert sorted(row["seeds"] for row in rows) == [1, 2]
    assert all(row["method"].startswith("uniform (") for row in rows)


def test_runs_of_different_data_do_not_compare(home: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(home, tmp_path / "copy"))
    settings = (copy / "config.toml").read_text()
    (copy / "config.toml").write_text(settings.replace('"flip:0.4"', '"uniform:0.6"'))
    with pytest.raises(UsageError, match=r"data\.noise = 'flip:0\.4' and copy has 'uniform:0\.6'"):
        read_runs([home, copy])
    relabelled = settings.replace('noise = "flip:0.4"', 'noise = "none"\nlabels = "second.csv"')
    (copy / "config.toml").write_text(relabelled)
    assert len(read_runs([home, copy])) == 2
