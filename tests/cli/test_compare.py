import json
import shutil
from pathlib import Path

import pytest
from tests.training.small import TINY
from tests.training.toy_text import TUNE, toy, write_toy
from typer.testing import CliRunner

from reweigh.cli.app import app
from reweigh.config import to_toml
from reweigh.config.lineup import LINEUP
from reweigh.errors import UsageError

SMALL = tuple(part for text in TINY for part in ("--set", text))
CLEAN = ("--set", "data.noise=none")


def compare(*arguments: str) -> str:
    return CliRunner().invoke(app, ["compare", *arguments], catch_exceptions=False).stdout


def test_a_dry_run_builds_every_method_and_lists_its_seeds() -> None:
    small = (*SMALL, "--set", "seed=5", "--seeds", "2")
    rows = json.loads(compare("--dry-run", "--json", *small))["rows"]
    assert [(r["method"], r["seeds"]) for r in rows] == [(m, [5, 6]) for m in LINEUP]
    assert len({i for r in rows for i in r["run_ids"]}) == 2 * len(rows)
    assert {r["why"] for r in rows} == {""}


def test_a_dry_run_tells_what_could_not_be_run() -> None:
    command = ["compare", "--dry-run", "--methods", "uniform,clean-labels", *SMALL, *CLEAN]
    done = CliRunner().invoke(app, command)
    assert "needs the" in done.stdout
    assert done.exit_code == 1
    with pytest.raises(UsageError, match="no-such"):
        compare("--dry-run", "--data", "no-such.npz", "--methods", "uniform")


def test_all_rows_are_those_that_can_be_run_on_the_data(tmp_path: Path) -> None:
    """Who has own data and no planted noise is not told of failures for having asked for nothing."""
    ceilings = ["perfect-weights", "perfect-mixed", "clean-labels"]
    done = CliRunner().invoke(app, ["compare", "--dry-run", "--json", *SMALL, *CLEAN])
    rows = json.loads(done.stdout)["rows"]
    assert done.exit_code == 0
    assert [row["method"] for row in rows] == [name for name in LINEUP if name not in ceilings]
    assert f"Without {', '.join(ceilings)}, which need true labels" in done.stderr
    named = ["compare", "--dry-run", "--methods", "perfect-mixed,uniform", *SMALL, *CLEAN]
    assert "perfect-mixed needs the" in " ".join(CliRunner().invoke(app, named).stdout.split())


def test_runs_that_fail_are_told_by_the_exit_code(tmp_path: Path) -> None:
    rows = ["--methods", "uniform,clean-labels", "--seeds", "1", "--out", str(tmp_path / "table")]
    done = CliRunner().invoke(app, ["compare", *rows, *SMALL, *CLEAN])
    assert done.exit_code == 1
    assert "1 of 2 runs failed" in done.stderr


def test_a_single_seed_is_told_to_be_that_of_the_run_and_not_that_of_the_data() -> None:
    with pytest.raises(UsageError, match=r"no option --seed; settings are given as --set seed=3 "):
        compare("--seed", "3", "--dry-run")


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(UsageError, match="deep-linear"):
        compare("--methods", "deep-linar", "--dry-run")


def test_the_shared_settings_are_printed() -> None:
    assert 'noise = "flip:0.4"' in compare("--noise", "flip:0.4", "--print-config")


def test_for_programs_too() -> None:
    text = compare(
        "--methods", "uniform,focal-2", "--noise", "flip:0.4", "--print-config", "--json"
    )
    told = json.loads(text)
    assert told["data"]["noise"] == "flip:0.4"
    assert told["rows"]["focal-2"] == {"name": "focal", "gamma": 2.0}


def test_rows_for_programs_are_one_object(tmp_path: Path) -> None:
    rows = ["--methods", "uniform,perfect-weights", "--seeds", "2", "--json", "--out"]
    command = ["compare", *SMALL, *rows, str(tmp_path / "table")]
    done = CliRunner().invoke(app, command, catch_exceptions=False)
    found = json.loads(done.stdout)
    assert found["failures"] == {}
    assert [(row["method"], row["seed"]) for row in found["rows"]] == [
        ("uniform", 0), ("uniform", 1), ("perfect-weights", 0), ("perfect-weights", 1),
    ]  # fmt: skip
    for row in found["rows"]:
        assert 0 <= row["test_error_last"] <= 1
        assert 0 <= row["test_error_best_by_trusted"] <= 1
        assert row["cost"] > 0
        assert row["noise_auroc"] == (None if row["method"] == "uniform" else 1.0)
    assert "4 runs, 0 of them done before" in done.stderr
    again = CliRunner().invoke(app, command, catch_exceptions=False)
    assert json.loads(again.stdout) == found
    assert "4 runs, 4 of them done before" in again.stderr


def test_data_that_are_missing_stop_the_comparison(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"'nowhere\.csv' is neither"):
        compare("--data", "nowhere.csv", "--methods", "uniform,focal", "--seeds", "1")
    assert list(tmp_path.rglob("*.json")) == []


def test_jobs_arrive(tmp_path: Path, monkeypatch) -> None:
    asked: list[int] = []

    def note(runs, folder, progress, jobs, cluster):
        asked.append(jobs)
        raise UsageError("enough.")

    monkeypatch.setattr("reweigh.comparing.compare.compare", note)
    for options in ([], ["--jobs", "3"]):
        with pytest.raises(UsageError, match="enough"):
            compare("--methods", "uniform", "--out", str(tmp_path), *options)
    assert asked == [1, 3]


def test_translators_begin_from_one_run_per_seed(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    text = write_toy(tmp_path / "text", train=80, held_out=20)
    (tmp_path / "before.toml").write_text(
        to_toml(toy(text, "data.trusted=10", "training.epochs=2"))
    )
    tune = toy(text, "data.trusted=10", "training.updates=3", *TUNE)
    (tmp_path / "tune.toml").write_text(to_toml(tune))
    command = [
        *("compare", str(tmp_path / "tune.toml"), "--pretrain", str(tmp_path / "before.toml")),
        *("--methods", "uniform,deep", "--seeds", "1", "--json", "-q", "--threads", "1"),
    ]
    first = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "a")])
    assert first.exit_code == 0, first.output
    rows = json.loads(first.stdout)["rows"]
    assert [row["method"] for row in rows] == ["pretrained", "uniform", "deep"]
    assert all(set(row["tests"]["test"]) == {"last", "best_by_trusted"} for row in rows)
    shutil.move(tmp_path / "a", tmp_path / "b")
    shutil.rmtree(next((tmp_path / "b").glob("deep_*")))
    again = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "b")])
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["rows"][2]["bleu_last"] == rows[2]["bleu_last"]
    shown = CliRunner().invoke(app, ["table", str(tmp_path / "b"), "--markdown"]).stdout
    assert "| test, last | test, best by trusted |" in shown
    assert shown.index("pretrained") < shown.index("uniform")


def test_settings_of_a_method_are_refused_where_rows_have_their_own() -> None:
    with pytest.raises(UsageError, match="takes its methods from --methods"):
        compare("--set", "method.every=50", "--dry-run")
