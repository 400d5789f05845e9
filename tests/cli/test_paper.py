import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reweigh.cli.app import app
from reweigh.errors import UsageError
from reweigh.paper.catalogue import RECIPES


def paper(*arguments: str) -> str:
    return CliRunner().invoke(app, ["paper", *arguments], catch_exceptions=False).stdout


def test_all_recipes_are_listed() -> None:
    assert list(json.loads(paper("list", "--json"))) == list(RECIPES)


def test_show_has_published_values_and_choices(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = paper("show", "transfer")
    assert "92.45" in text
    assert "never saw keep the embedding" in text
    assert not list(tmp_path.iterdir())
    line = "| to CIFAR-10, ResNet-110 | the paper's teacher, moved | 57.97 |"
    assert line in paper("show", "transfer", "--markdown")


def test_a_small_scale_carries_no_name_of_the_paper_s_data(tmp_path: Path) -> None:
    show = ("show", "deeper", "--scale", "tiny", "--out", str(tmp_path))
    assert "digits, ResNet-8 & Baseline & 7.22 &" in paper(*show, "--latex")
    found = json.loads(paper(*show, "--json"))
    assert "do not compare" in found["caption"]
    assert found["lines"][0]["student"] == "resnet8"


def test_columns_go_by_the_name_of_the_paper_as_well(tmp_path: Path) -> None:
    run = ("run", "flip", "--scale", "tiny", "--out", str(tmp_path / "x"), "--dry-run", "--json")
    for name in ("CIFAR-10, 40% flip", "digits, ResNet-8, 40% flip"):
        assert len(json.loads(paper(*run, "--only", name, "--only", "GLC"))["runs"]) == 2


def test_a_dry_run_names_the_folders(tmp_path: Path) -> None:
    out = ["--out", str(tmp_path / "x"), "--dry-run", "--json"]
    runs = json.loads(paper("run", "levels", "--scale", "cpu", "--seeds", "2", *out))["runs"]
    assert len(runs) == len(set(runs)) == 10
    only = json.loads(paper("run", "levels", "--scale", "cpu", "--only", "I2 + M0", *out))["runs"]
    assert len(only) == 6  # with plain training, three seeds
    assert not (tmp_path / "x").exists()


def test_a_scale_must_be_chosen() -> None:
    done = CliRunner().invoke(app, ["paper", "run", "levels"])
    assert done.exit_code == 2


def test_a_cluster_that_is_none_is_refused(tmp_path: Path) -> None:
    for address in ("slurm", "ray:", "dask", "dask://"):
        with pytest.raises(UsageError, match=r"expected ray, ray://HOST:PORT or dask://HOST:PORT"):
            paper("run", "deeper", "--scale", "tiny", "--out", str(tmp_path), "--cluster", address)


@pytest.mark.parametrize("verb", [("show",), ("run", "--scale", "tiny", "--dry-run")])
def test_two_forms_at_once_are_refused(verb: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="--markdown and --latex are forms of the same table"):
        paper(*verb, "transfer", "--markdown", "--latex")
