import json
import shutil
import tomllib
from pathlib import Path

import pytest
from tests.audit.made_up import finished_run

from reweigh.errors import CheckpointError, UsageError
from reweigh.report.reading import read_runs
from reweigh.report.runs import table


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    return finished_run(tmp_path_factory.mktemp("runs") / "first", "method.name=uniform")


def copied(home: Path, to: Path, before: str = "", after: str = "", seed: int = 0) -> Path:
    """A run that never was: another's folder with one line of its settings changed, and its own id."""
    copy = Path(shutil.copytree(home, to))
    settings = (copy / "config.toml").read_text().replace(before, after)
    (copy / "config.toml").write_text(settings)
    result = json.loads((copy / "result.json").read_text()) | {"run_id": to.name, "seed": seed}
    (copy / "result.json").write_text(json.dumps(result))
    return copy


def test_a_run_and_a_folder_of_runs_are_both_read_and_each_once(home: Path) -> None:
    (alone,) = read_runs([home]).runs
    assert alone.row == "uniform"
    assert len(alone.metrics) == 2
    assert alone.ended[:2] == "20"
    both = read_runs([home, home.parent])
    assert [run.folder for run in both.runs] == [alone.folder]
    assert both.remarks == ()


def test_a_run_is_called_by_the_path_that_was_asked_for(home: Path, monkeypatch) -> None:
    monkeypatch.chdir(home.parent.parent)
    given = Path(home.parent.name)
    for asked in (given, given / home.name):
        (run,) = read_runs([asked]).runs
        assert run.given == given / home.name
        assert run.folder == home.resolve()
    monkeypatch.chdir(home)
    (run,) = read_runs([Path()]).runs
    assert run.given / "config.toml" == Path("config.toml")


def test_a_comparison_names_its_rows(home: Path, tmp_path: Path) -> None:
    (alone,) = read_runs([home]).runs
    named = tmp_path / f"plain-twice_s0_{alone.result['run_id'][:8]}"
    shutil.copytree(home, named)
    assert read_runs([tmp_path]).runs[0].row == "plain-twice"
    own = copied(home, tmp_path / "own" / "mine-Mine_s0_0123abcd")
    result = json.loads((own / "result.json").read_text()) | {"method": "mine:Mine"}
    (own / "result.json").write_text(json.dumps(result))
    assert read_runs([own]).runs[0].row == "mine:Mine"


def test_what_holds_no_finished_run_is_refused(home: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no finished run"):
        read_runs([tmp_path])
    copy = Path(shutil.copytree(home, tmp_path / "copy"))
    (copy / "result.json").unlink()
    with pytest.raises(UsageError, match="has not finished"):
        read_runs([copy])
    with pytest.raises(UsageError, match="holds no finished run"):
        read_runs([tmp_path])


def test_runs_that_a_comparison_lost_are_named(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home, tmp_path / "uniform_s0_a")
    for name, status in (
        ("uniform_s1_b", {"status": "failed", "reason": "DivergedError: the loss is nan."}),
        ("uniform_s2_c", {"status": "interrupted"}),
    ):
        lost = copied(home, tmp_path / name)
        (lost / "result.json").unlink()
        (lost / "status.json").write_text(json.dumps(status))
    found = read_runs([tmp_path])
    assert [run.folder.name for run in found.runs] == ["uniform_s0_a"]
    assert found.remarks == (
        "uniform_s1_b is missing: DivergedError: the loss is nan",
        "uniform_s2_c is missing: not finished",
    )


def test_a_copy_is_no_further_seed(home: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(home, tmp_path / "copy"))
    found = read_runs([home, copy])
    assert [run.folder for run in found.runs] == [home.resolve()]
    (remark,) = found.remarks
    assert remark == "copy repeats first (the same settings and the same seed) and is left out"


def test_runs_of_one_seed_that_count_as_several_are_told(home: Path, tmp_path: Path) -> None:
    """Each of them began from another's student."""
    again = copied(home, tmp_path / "again")
    found = read_runs([home, again])
    assert len(found.runs) == 2
    assert found.remarks == ("first, again all have the seed 0, and count as 2 seeds",)


def test_runs_of_different_settings_are_not_averaged(home: Path, tmp_path: Path) -> None:
    other = copied(home, tmp_path / "other", "lr = ", "lr = 1")
    seed = copied(home, tmp_path / "seed", "seed = 0", "seed = 1", seed=1)
    found = read_runs([home, other, seed])
    rows = table(found.runs)
    assert sorted(row["seeds"] for row in rows) == [1, 2]
    assert all(row["method"].startswith("uniform (") for row in rows)
    assert found.remarks == ()


def test_runs_of_different_data_do_not_compare(home: Path, tmp_path: Path) -> None:
    copy = copied(home, tmp_path / "copy", '"flip:0.4"', '"uniform:0.6"')
    with pytest.raises(UsageError, match=r"data\.noise = 'flip:0\.4' and copy has 'uniform:0\.6'"):
        read_runs([home, copy])
    relabelled = 'noise = "none"\nlabels = "second.csv"'
    again = copied(home, tmp_path / "again", 'noise = "flip:0.4"', relabelled)
    assert len(read_runs([home, again]).runs) == 2


def test_one_file_in_two_spellings_is_one(home: Path, tmp_path: Path) -> None:
    name = f'"{tomllib.loads((home / "config.toml").read_text())["data"]["name"]}"'
    other = copied(home, tmp_path / "b", name, name.replace('"', '"./', 1), seed=1)
    assert len(read_runs([home, other]).runs) == 2
    elsewhere = copied(home, tmp_path / "c", name, name.replace('"', '"../', 1), seed=1)
    with pytest.raises(UsageError, match="they do not compare"):
        read_runs([home, elsewhere])


def test_data_edited_between_two_runs_is_no_repetition(home: Path, tmp_path: Path) -> None:
    again = Path(shutil.copytree(home, tmp_path / "again"))
    (remark,) = read_runs([home, again]).remarks
    assert "again repeats first" in remark
    result = json.loads((again / "result.json").read_text()) | {"fingerprint": "other"}
    (again / "result.json").write_text(json.dumps(result))
    with pytest.raises(UsageError, match="learned from different data, edited in between"):
        read_runs([home, again])


def test_a_file_that_is_gone_or_broken_is_told(home: Path, tmp_path: Path) -> None:
    for name, content in (("command.txt", None), ("config.toml", "a = = 1")):
        broken = Path(shutil.copytree(home, tmp_path / name))
        (broken / name).unlink()
        if content is not None:
            (broken / name).write_text(content)
        with pytest.raises(CheckpointError, match=f"{name} cannot be read"):
            read_runs([broken])
