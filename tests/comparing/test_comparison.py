"""The table of many runs: means, spreads, cost, and what is said under it."""

from pathlib import Path

import pytest

from reweigh.comparing.comparison import Comparison, with_cost
from reweigh.config.lineup import LINEUP
from reweigh.config.writing import plain_values


def test_cost_is_relative_to_plain_training_of_the_same_seed() -> None:
    def row(method: str, seed: int, seconds: float) -> dict:
        plain = {"name": method}
        return {"method": method, "settings": plain, "seed": seed, "train_seconds": seconds}

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
    elsewhere = row("deep", 0, 1.0) | {"machine": "a quicker one"}
    assert with_cost([*rows, elsewhere])[-1]["cost"] is None  # its seconds are others


def test_the_table_has_mean_and_spread(tmp_path: Path) -> None:
    def row(seed: int, error: float) -> dict:
        errors = {"test_error_last": error, "test_error_best_by_trusted": 0.5}
        who = {"method": "uniform", "settings": {"name": "uniform"}, "seed": seed}
        return {**who, "cost": 1.0, "noise_auroc": None, **errors}

    table = Comparison([row(0, 0.1), row(1, 0.2)], {}, tmp_path).table()
    cells = [next(iter(column.cells)) for column in table.columns]
    assert cells == ["uniform", "2", "15.00 ± 7.07", "50.00 ± 0.00", "1.00", "–"]


def test_what_the_size_of_the_test_set_leaves_open_stands_under_the_table() -> None:
    def rows(method: str, *errors: float, samples: int | None = 189) -> list[dict]:
        own = {"method": method, "settings": {"name": method}, "cost": None, "noise_auroc": None}
        each = {"test_error_best_by_trusted": 0.5, "test_samples": samples}
        return [own | each | {"seed": s, "test_error_last": e} for s, e in enumerate(errors)]

    words = "a test set of 189 samples leaves ± 3.4 points by its size alone"
    made = Comparison([*rows("deep", 0.28, 0.29), *rows("uniform", 0.32, 0.34)])
    assert made.table().caption == words
    assert words in made.markdown()
    for silent in (rows("deep", 0.1, 0.4), rows("deep", 0.28, 0.29, samples=None)):
        assert Comparison(silent).table().caption is None


def test_what_the_runs_said_of_their_data_stands_under_the_table(tmp_path: Path) -> None:
    errors = {"test_error_last": 0.1, "test_error_best_by_trusted": 0.5, "noise_auroc": None}
    who = {"method": "uniform", "settings": {"name": "uniform"}, "cost": 1.0, **errors}
    rows = [who | {"seed": seed, "cautions": ["nobody checked"]} for seed in (0, 1)]
    made = Comparison(rows, {}, tmp_path)
    assert made.table().caption == "Caution: nobody checked"
    assert made.markdown().count("Caution: nobody checked") == 1


def test_what_is_said_under_a_table_comes_from_the_settings_of_its_rows() -> None:
    def row(name: str, **settings: object) -> dict:
        errors = {"test_error_last": 0.1, "test_error_best_by_trusted": 0.2, "noise_auroc": None}
        own = plain_values(LINEUP[name]) | settings
        return {
            "method": f"my {name}{settings or ''}",
            "settings": own,
            "seed": 0,
            "cost": None,
            **errors,
        }

    rows = [row("deep", every=2), row("deep-linear"), row("l2t-data"), row("l2t-data", episodes=99)]
    text = Comparison(rows).markdown()
    assert text.endswith("best epoch chosen by them: my deep{'every': 2}")
    assert "my l2t-data: learned from 10 trial trainings, its authors take up to 5000" in text
    assert "my l2t-data{'episodes': 99}: learned from 99 trial trainings" in text


def test_translators_have_both_bleu_scores_of_every_test_set(tmp_path: Path) -> None:
    def row(method: str, seed: int, bleu: float, seconds: float) -> dict:
        scores = {"last": [bleu, bleu - 1], "best_by_trusted": [bleu + 1, bleu]}
        return {
            "method": method, "settings": {"name": "uniform"}, "seed": seed,
            "train_seconds": seconds, "noise_auroc": None,
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


def test_a_paper_gets_a_table_with_its_caption() -> None:
    errors = {"test_error_last": 0.1, "test_error_best_by_trusted": 0.2, "noise_auroc": None}
    rows = [
        {"method": "my_deep", "settings": plain_values(LINEUP["deep"]), "seed": s, "cost": 1.5}
        | errors
        for s in (0, 1)
    ]
    rows[0]["cautions"] = ["nobody\nchecked 5% of it"]
    made = Comparison(
        rows,
        {"focal_s0": "not finished"},
        terms="lr=0.1",
        about="my_set (noise flip:0.4, 9 epochs)",
    )
    above, text = made.latex().split(r"\begin{table}")
    assert above == "% Missing: focal_s0: not finished\n% Caution: nobody checked 5% of it\n"
    assert r"my\_deep & 2 & 10.00 $\pm$ 0.00 & 20.00 $\pm$ 0.00 & 1.50 & -- \\" in text
    assert (
        r"\caption{Test error in percent on my\_set (noise flip:0.4, 9 epochs), mean $\pm$ standard "
        r"deviation over 2 seeds; lr=0.1; trained on the trusted samples as well"
    ) in text
    assert r"best epoch chosen by them: my\_deep}" in text
    one = Comparison(rows[1:]).latex()
    assert one.startswith(r"\begin{table}")
    assert r"\caption{Test error in percent, of one seed;" in one
    assert r"\begin{tabular}{lrrrrr}" in text


def test_programs_get_a_line_a_method_with_numbers_as_they_are() -> None:
    errors = {"test_error_last": 0.125, "test_error_best_by_trusted": 0.25, "noise_auroc": None}
    plain = {"method": "uniform", "settings": {"name": "uniform"}, "cost": 1.0, **errors}
    own = plain | {"method": "mine:Mine", "cost": 1.5, "noise_auroc": 0.9}
    rows = [own | {"seed": 0}, own | {"seed": 1, "test_error_last": 0.375}, plain | {"seed": 0}]
    first, second = Comparison(rows, folder=Path("runs/a"), terms="lr=0.1").figures()
    assert first == {
        "method": "mine:Mine", "seeds": 2, "mean": 25.0, "std": pytest.approx(17.6776695),
        "best_mean": 25.0, "best_std": 0.0, "cost": 1.5, "auroc": 0.9,
        "measure": "Test error, %", "terms": "lr=0.1", "folder": "runs/a",
    }  # fmt: skip
    assert (second["std"], second["best_std"], second["auroc"]) == (None, None, None)
