"""Stored tables in every form."""

import csv
import json
from itertools import combinations
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reweigh.cli.app import app
from reweigh.errors import UsageError

RESULTS = Path(__file__).parents[2] / "results"
FOLDERS = [str(RESULTS / name) for name in ("breast-cancer_flip-0.3", "multi30k_mask-0.1")]


def shown(*arguments: str) -> str:
    return CliRunner().invoke(app, ["table", *arguments], catch_exceptions=False).stdout


def test_a_csv_has_all_tables_as_one() -> None:
    lines = list(csv.DictReader(shown(*FOLDERS, "--csv").splitlines()))
    head = "method,seeds,mean,std,best_mean,best_std,cost,auroc,measure,terms,folder"
    assert list(lines[0]) == head.split(",")
    assert {(line["measure"], line["folder"]) for line in lines} == {
        ("Test error, %", FOLDERS[0]),
        ("BLEU", FOLDERS[1]),
    }
    (plain,) = [
        line for line in lines if (line["method"], line["folder"]) == ("uniform", FOLDERS[0])
    ]
    errors = [
        row["test_error_last"]
        for row in json.loads(shown(FOLDERS[0], "--json"))[FOLDERS[0]][0]["rows"]
        if row["method"] == "uniform"
    ]
    assert float(plain["mean"]) == pytest.approx(100 * sum(errors) / len(errors), rel=1e-12)
    assert plain["auroc"] == ""


def test_a_paper_s_caption_says_what_the_figures_are_of() -> None:
    caption = next(line for line in shown(FOLDERS[0], "--latex").splitlines() if "caption" in line)
    assert (
        "on breast-cancer (noise flip:0.3, 100 epochs), mean $\\pm$ standard deviation" in caption
    )


@pytest.mark.parametrize("two", [*combinations(["--markdown", "--latex", "--csv", "--json"], 2)])
def test_two_forms_at_once_are_refused(two: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match=f"{' and '.join(two)} are forms of the same table"):
        shown(FOLDERS[0], *two)
