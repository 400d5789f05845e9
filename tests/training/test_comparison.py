"""The table of many runs: means, spreads, cost, and reading it back off a folder."""

import json
from pathlib import Path

import pytest

from reweigh.errors import DataError
from reweigh.training.comparison import Comparison, read_comparison, told_apart, with_cost


def test_cost_is_relative_to_plain_training_of_the_same_seed() -> None:
    def row(method: str, seed: int, seconds: float) -> dict:
        return {"method": method, "seed": seed, "train_seconds": seconds}

    rows = [
        row("uniform", 0, 2.0),
        row("deep", 0, 3.0),
        row("uniform", 1, 4.0),
        row("deep", 1, 5.0),
    ]
    assert [r["cost"] for r in with_cost(rows)] == [1.0, 1.5, 1.0, 1.25]
    other = [*rows[:3:2], row("deep", 7, 6.0)]
    assert with_cost(other)[-1]["cost"] == 2.0  # the median of the plain ones
    assert with_cost(rows[1::2])[0]["cost"] is None


def test_the_table_has_mean_and_spread(tmp_path: Path) -> None:
    def row(seed: int, error: float) -> dict:
        errors = {"test_error_last": error, "test_error_best_by_trusted": 0.5}
        return {"method": "uniform", "seed": seed, "cost": 1.0, "noise_auroc": None, **errors}

    table = Comparison([row(0, 0.1), row(1, 0.2)], {}, tmp_path).table()
    cells = [next(iter(column.cells)) for column in table.columns]
    assert cells == ["uniform", "2", "15.00 ± 7.07", "50.00 ± 0.00", "1.00", "–"]


def test_a_finished_folder_is_read_back_without_its_unfinished_runs(tmp_path: Path) -> None:
    for name, seed, status in (
        ("deep-linear", 0, "done"),
        ("uniform", 0, "done"),
        ("deep", 0, "failed"),
    ):
        home = tmp_path / f"{name}_s{seed}_0123abcd"
        home.mkdir()
        (home / "status.json").write_text(json.dumps({"status": status}))
        errors = {"test_error_last": 0.1, "test_error_best_by_trusted": 0.2}
        result = {"method": "x", "seed": seed, "train_seconds": 2.0, "noise_auroc": None, **errors}
        (home / "result.json").write_text(json.dumps(result))
    found = read_comparison(tmp_path)
    assert [row["method"] for row in found.rows] == ["uniform", "deep-linear"]  # the lineup's order
    assert "| deep-linear | 1 | 10.00 | 20.00 | 1.00 | – |" in found.markdown()


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no finished run"):
        read_comparison(tmp_path)


def test_translators_have_both_bleu_scores_of_every_test_set(tmp_path: Path) -> None:
    def row(method: str, seed: int, bleu: float, seconds: float) -> dict:
        scores = {"last": [bleu, bleu - 1], "best_by_trusted": [bleu + 1, bleu]}
        return {
            "method": method, "seed": seed, "train_seconds": seconds, "noise_auroc": None,
            "tests": {"test_2016": scores}, "signature": "tok:13a",
        }  # fmt: skip

    rows = [row("pretrained", 0, 20.0, 90), row("uniform", 0, 30.0, 2), row("uniform", 1, 32.0, 2)]
    table = Comparison(with_cost(rows), {}, tmp_path).table()
    heads = [str(column.header) for column in table.columns]
    assert heads[2:4] == ["test_2016, last", "test_2016, best by trusted"]
    cells = [list(column.cells) for column in table.columns]
    assert cells[2] == ["20.00 (19.00)", "31.00 ± 1.41 (30.00)"]
    assert cells[4] == ["–", "1.00"]  # what all begin from is nobody's cost
    assert "multi-bleu.perl" in str(table.caption)
    assert "tok:13a" in str(table.caption)


def test_runs_of_different_settings_are_rows_of_their_own() -> None:
    names = ["deep", "deep", "uniform", "deep"]
    told = told_apart(names, ["aaaaa", "bbbbb", "ccccc", "aaaaa"])
    assert told == ["deep (aaaa)", "deep (bbbb)", "uniform", "deep (aaaa)"]
