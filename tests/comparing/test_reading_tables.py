"""A folder of runs as tables: what may stand side by side, what is called how, what is missing."""

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from tests.made_up_result import put_result

from reweigh.comparing.reading_tables import read_tables
from reweigh.config import RunConfig, to_toml
from reweigh.errors import CheckpointError, UsageError


def put(folder: Path, name: str, status: str = "done", seed: int = 0, **settings: object) -> None:
    """A run's folder, as far as a table looks at it."""
    home = folder / name
    home.mkdir()
    config = RunConfig.model_validate({"seed": seed, **settings})
    (home / "config.toml").write_text(to_toml(config))
    reason = "DivergedError: the loss is nan" if status == "failed" else ""
    (home / "status.json").write_text(json.dumps({"status": status, "reason": reason}))
    if status == "done":
        put_result(home, seed=seed)


def deep(**settings: object) -> dict[str, object]:
    return {"name": "deep", **settings}


def test_rows_stand_in_the_order_of_the_lineup(tmp_path: Path) -> None:
    put(tmp_path, "deep-linear_s0_0123abcd", method=deep(teacher="linear"))
    put(tmp_path, "uniform_s0_0123abcd", method={"name": "uniform"})
    (table,) = read_tables(tmp_path)
    assert [row["method"] for row in table.rows] == ["uniform", "deep-linear"]
    assert "| deep-linear | 1 | 10.00 | 20.00 | 1.00 | – |" in table.markdown()
    assert table.terms == ""


def test_runs_on_other_terms_stand_in_tables_of_their_own(tmp_path: Path) -> None:
    put(tmp_path, "uniform_s0_a", method={"name": "uniform"}, training={"epochs": 6})
    put(tmp_path, "deep_s0_b", method=deep(), training={"epochs": 6})
    put(tmp_path, "deep_s0_c", method=deep(), training={"epochs": 2}, data={"noise": "flip:0.4"})
    few, more = sorted(read_tables(tmp_path), key=lambda table: len(table.rows))
    assert [row["method"] for row in more.rows] == ["uniform", "deep"]
    assert more.terms == "noise=none, epochs=6"
    assert few.terms == "noise=flip:0.4, epochs=2"
    assert few.rows[0]["cost"] is None  # plain training on other terms is no measure
    assert few.markdown().startswith(few.terms)


def test_variants_of_one_row_are_told_apart_by_what_differs(tmp_path: Path) -> None:
    put(tmp_path, "deep_s0_a", method=deep(every=2))
    put(tmp_path, "deep_s1_b", method=deep(every=2), seed=1)
    put(tmp_path, "deep_s0_c", method=deep(every=5))
    (table,) = read_tables(tmp_path)
    named = [(row["method"], row["seed"]) for row in table.rows]
    assert named == [("deep (every=2)", 0), ("deep (every=2)", 1), ("deep (every=5)", 0)]


def test_a_run_of_one_s_own_is_called_as_its_folder(tmp_path: Path) -> None:
    put(tmp_path, "plain", method={"name": "uniform"})
    put(tmp_path, "deep-K2_s0", method=deep(every=2))
    (table,) = read_tables(tmp_path)
    assert [(row["method"], row["cost"]) for row in table.rows] == [("deep-K2", 1), ("plain", 1)]


def test_a_method_of_one_s_own_is_called_as_in_the_comparison(tmp_path: Path) -> None:
    put(tmp_path, "mine-Mine_s0_a", method={"name": "mine:Mine"})
    put(tmp_path, "twice_s0_b", method={"name": "mine:Mine", "options": {"most": 2}})
    (table,) = read_tables(tmp_path)
    assert [row["method"] for row in table.rows] == ["mine:Mine", "twice"]


def test_what_failed_or_has_not_finished_is_named(tmp_path: Path) -> None:
    put(tmp_path, "uniform_s0_a", method={"name": "uniform"})
    put(tmp_path, "uniform_s1_b", "failed", seed=1, method={"name": "uniform"})
    put(tmp_path, "deep_s0_c", "interrupted", method=deep())
    (table,) = read_tables(tmp_path)
    assert table.failures == {
        "deep_s0_c": "not finished",
        "uniform_s1_b": "DivergedError: the loss is nan",
    }
    assert "Missing: deep_s0_c: not finished; uniform_s1_b" in table.markdown()
    assert table.table().row_count == 3


def test_what_all_begin_from_stands_in_the_table_of_those_that_do(tmp_path: Path) -> None:
    put(tmp_path, "pretrained_s0_a", method={"name": "uniform"}, training={"epochs": 9})
    put(tmp_path, "uniform_s0_b", method={"name": "uniform"}, training={"epochs": 1})
    (table,) = read_tables(tmp_path)
    assert [(row["method"], row["cost"]) for row in table.rows] == [
        ("pretrained", None), ("uniform", 1),
    ]  # fmt: skip


def test_what_all_begin_from_is_not_averaged_over_different_settings(tmp_path: Path) -> None:
    put(tmp_path, "pretrained_s0_a", method={"name": "uniform"}, training={"epochs": 9})
    put(tmp_path, "pretrained_s0_b", method={"name": "uniform"}, training={"epochs": 3})
    put(tmp_path, "uniform_s0_c", method={"name": "uniform"}, training={"epochs": 1})
    (table,) = read_tables(tmp_path)
    names = [row["method"] for row in table.rows]
    assert sorted(names) == ["pretrained (epochs=3)", "pretrained (epochs=9)", "uniform"]


def test_rows_that_begin_from_different_runs_are_told_apart(tmp_path: Path) -> None:
    put(tmp_path, "tf_s0_a", method=deep(teacher_from="/runs/a_s0_01234567"))
    put(tmp_path, "tf_s1_b", method=deep(teacher_from="/runs/a_s1_89abcdef"), seed=1)
    put(tmp_path, "tf_s0_c", method=deep(teacher_from="/runs/b_s0_01234567"))
    (table,) = read_tables(tmp_path)
    assert [(row["method"], row["seed"]) for row in table.rows] == [
        ("tf (teacher_from=a)", 0), ("tf (teacher_from=a)", 1), ("tf (teacher_from=b)", 0),
    ]  # fmt: skip


def test_a_run_without_settings_is_named_and_not_shown(tmp_path: Path) -> None:
    put(tmp_path, "uniform_s0_a", method={"name": "uniform"})
    put(tmp_path, "deep_s0_b", method=deep())
    (tmp_path / "deep_s0_b/config.toml").unlink()
    (table,) = read_tables(tmp_path)
    assert [row["method"] for row in table.rows] == ["uniform"]
    assert table.failures == {"deep_s0_b": "no config.toml"}


def test_runs_of_one_seed_on_different_data_are_cautioned_of(tmp_path: Path) -> None:
    for name, data in (("uniform_s0_a", "aaa"), ("deep_s0_b", "bbb")):
        put(tmp_path, name, method={"name": name.partition("_")[0]})
        file = tmp_path / name / "result.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"fingerprint": data}))
    (table,) = read_tables(tmp_path)
    assert "runs of seed 0 learned from different data" in table.markdown()
    assert "different data" in str(table.table().caption)


def test_whatever_stands_in_a_reason_is_shown_as_it_is(tmp_path: Path) -> None:
    put(tmp_path, "uniform_s0_a", method={"name": "uniform"})
    put(tmp_path, "deep_s0_b", "failed", method=deep())
    reason = json.dumps({"status": "failed", "reason": "KeyError: no file [/data/x] [bold]y"})
    (tmp_path / "deep_s0_b/status.json").write_text(reason)
    (table,) = read_tables(tmp_path)
    console = Console(width=200, record=True, file=StringIO())
    console.print(table.table())
    assert "KeyError: no file [/data/x] [bold]y" in console.export_text()


def test_a_folder_without_finished_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no finished run"):
        read_tables(tmp_path)
    put(tmp_path, "uniform_s0_a", "failed")
    with pytest.raises(UsageError, match="holds no finished run"):
        read_tables(tmp_path)


def test_a_result_that_lost_figures_is_told(tmp_path: Path) -> None:
    put(tmp_path, "uniform_s0_a", method={"name": "uniform"})
    file = tmp_path / "uniform_s0_a" / "result.json"
    kept = json.loads(file.read_text())
    del kept["test_error_last"]
    file.write_text(json.dumps(kept))
    with pytest.raises(
        CheckpointError, match=r"result\.json lacks test_error_last; was it changed"
    ):
        read_tables(tmp_path)
