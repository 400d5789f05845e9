import json
from pathlib import Path

import pytest
from tests.training.toy_text import write_toy
from typer.testing import CliRunner

from reweigh.cli.app import app
from reweigh.errors import UsageError


def data(*arguments: str) -> str:
    return CliRunner().invoke(app, ["data", *arguments], catch_exceptions=False).stdout


def test_the_built_in_sets_are_listed() -> None:
    assert "mnist5k" in data("list")
    assert "cifar10" in json.loads(data("list", "--json"))


def test_what_a_run_would_see_is_shown() -> None:
    shown = data("show", "digits", "--noise", "flip:0.4")
    assert "noise flip:0.4" in shown
    assert "trusted" in shown
    record = json.loads(data("show", "digits", "--set", "data.trusted_per_class=5", "--json"))
    assert record["counts"]["trusted"] == 50


def test_a_line_a_column_of_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"{i % 7},{'red' if i % 2 else '[blue]'},{'ab'[i % 2]}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["a size,colour,label", *rows]))
    shown = data("show", str(tmp_path / "t.csv"))
    assert "\n  a size  number\n  colour  2 categories: '[blue]', 'red'\n  label   label\n" in shown
    columns = json.loads(data("show", str(tmp_path / "t.csv"), "--json"))["columns"]
    assert [column["read_as"] for column in columns] == ["number", "categories", "label"]
    assert columns[1]["categories"] == ["[blue]", "red"]
    monkeypatch.setattr("reweigh.cli.data._MOST_COLUMNS", 1)
    assert "number\n  … and 2 more columns (--json has all)\n" in data(
        "show", str(tmp_path / "t.csv")
    )


def test_what_cannot_be_fetched_is_refused() -> None:
    with pytest.raises(UsageError, match="nothing to get"):
        data("get", "digits")


def test_a_download_says_how_far_it_is(tmp_path: Path, monkeypatch) -> None:
    def slowly(name, data_dir, progress):
        for done in (1_000_000, 2_000_000):
            progress("a.tar.gz", done, 2_000_000)
        return tmp_path

    monkeypatch.setattr("reweigh.data.fetch.get", slowly)
    told = CliRunner().invoke(app, ["data", "get", "cifar10"])
    assert told.stdout.strip() == str(tmp_path)
    assert "a.tar.gz" in told.stderr
    assert "2.0/2.0 MB" in told.stderr
    assert CliRunner().invoke(app, ["data", "get", "cifar10", "-q"]).stderr == ""


def test_show_counts_pairs_and_tokens(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    text = write_toy(tmp_path / "text", train=80, held_out=20)
    sets = ["--set", "task=translation", "--set", "data.merges=50", "--noise", "mask:0.5:0.5"]
    shown = CliRunner().invoke(app, ["data", "show", str(text), *sets])
    assert shown.exit_code == 0, shown.output
    assert "of the pairs changed" in " ".join(shown.stdout.split())
    assert any(line.split()[1:4:2] == ["train", "80"] for line in shown.stdout.splitlines()[3:])
