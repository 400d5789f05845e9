"""Rows of one's own in a comparison."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from tests.training.small import TINY
from typer.testing import CliRunner

from reweigh.cli.app import app
from reweigh.config.lineup import LINEUP, TRANSLATION
from reweigh.config.methods import DeepConfig, FocalConfig, OwnConfig
from reweigh.config.rows import own_rows
from reweigh.errors import UsageError

PAGE = (Path(__file__).parents[2] / "docs/methods.md").read_text(encoding="utf-8")
(EXAMPLE,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def compare(*arguments: str) -> str:
    return CliRunner().invoke(app, ["compare", *arguments], catch_exceptions=False).stdout


def planned(*arguments: str) -> dict[str, str]:
    """The first run's id of each row."""
    quick = [part for text in TINY for part in ("--set", text)]
    found = json.loads(compare(*arguments, *quick, "--seeds", "1", "--dry-run", "--json"))
    return {row["method"]: row["run_ids"][0] for row in found["rows"]}


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "rows.toml"
    path.write_text(EXAMPLE, encoding="utf-8")
    return str(path)


def test_the_rows_of_the_page_join_the_lineup(file: str) -> None:
    assert list(planned(file)) == [*LINEUP, "deep-K2", "focal-3"]
    some = planned(file, "--methods", "uniform,deep-K2,deep")
    assert list(some) == ["uniform", "deep-K2", "deep"]
    assert some["deep-K2"] != some["deep"]


def test_the_lineup_is_what_it_is_without_them(file: str) -> None:
    with_rows, without = planned(file), planned()
    assert {name: with_rows[name] for name in LINEUP} == without


def test_a_row_begins_like_another_or_as_its_method() -> None:
    tables = {
        "a": {"like": "deep-linear", "every": 10},
        "b": {"name": "focal", "gamma": 3.0},
        "c": {"name": "my.module:Mine", "options": {"x": 1}},
        "d": {"like": "deep"},
    }
    rows = own_rows(tables, "classification", "test")
    assert rows["a"] == LINEUP["deep-linear"].model_copy(update={"every": 10})
    assert rows["b"] == FocalConfig(gamma=3.0)
    assert rows["c"] == OwnConfig(name="my.module:Mine", options={"x": 1})
    assert rows["d"] == DeepConfig()
    assert own_rows({"d": {"like": "deep"}}, "translation", "test")["d"] == TRANSLATION["deep"]


def test_rows_need_no_file(file: str) -> None:
    sets = ["--set", "rows.K2.like=deep", "--set", "rows.K2.every=2", "--methods"]
    assert planned(*sets, "K2")["K2"] == planned(file, "--methods", "deep-K2")["deep-K2"]
    changed = planned(file, "--set", "rows.deep-K2.every=3", "--methods", "deep-K2")
    assert changed != planned(file, "--methods", "deep-K2")


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (["deep.like=deep"], r"rows\.deep has a name that is taken.*\[rows\.my-deep\]"),
        (["all.like=deep"], r"rows\.all has a name that is taken"),
        (["a b.like=deep"], r"rows\.a b should have a name of at most 80 letters"),
        (["x.like=dep"], r"rows\.x is like 'dep', which is no row.*did you mean deep or .*\?$"),
        (["x.like=[1]"], r"rows\.x is like \[1\], which is no row"),
        (["x.every=2"], r"rows\.x needs either name = .* or like ="),
        (["x.like=deep", "x.name=deep"], r"rows\.x needs either"),
        (["x.like=deep", "x.evry=2"], r"unknown key rows\.x\.evry; did you mean every\?"),
        (["x.like=deep", "x.every=0"], r"rows\.x\.every = 0 should be greater"),
        (["x.like=deep", "x.through=21"], r"rows\.x: through = 21 should not exceed every = 20"),
        (["x.name=focl"], r"rows\.x\.name = 'focl'; did you mean focal\?"),
        (["x=3"], r"rows\.x = 3 should be a table, as in rows\.x\.like"),
    ],
)
def test_what_is_wrong_with_a_row_is_told(sets: list[str], message: str) -> None:
    arguments = [part for text in sets for part in ("--set", f"rows.{text}")]
    with pytest.raises(UsageError, match=message) as error:
        compare(*arguments, "--dry-run")
    assert "\n" not in str(error.value)


def test_rows_that_are_no_tables_are_told() -> None:
    with pytest.raises(UsageError, match=r"rows = 3 should be tables, as in \[rows\.NAME\]"):
        compare("--set", "rows=3", "--dry-run")


def test_a_name_that_is_nearly_a_row_of_the_file_is_told(file: str) -> None:
    with pytest.raises(UsageError, match=r"'deep-K'.*did you mean deep-K2"):
        compare(file, "--methods", "deep-K", "--dry-run")


def test_a_method_that_is_not_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('[method]\nname = "focal"\n')
    arguments = ["compare", str(tmp_path / "base.toml"), "--methods", "uniform", "--dry-run"]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert "[method] of" in done.stderr
    assert "is not used" in done.stderr
    assert "not used" not in CliRunner().invoke(app, ["compare", *arguments[2:]]).stderr
    for given in ("method.gamma=2", 'method={name="focal"}'):
        with pytest.raises(UsageError, match=r"add a row of your own.*rows\.mine\.every"):
            compare("--set", given, "--dry-run")


def test_printed_settings_show_every_row_and_read_back_equal(file: str, tmp_path: Path) -> None:
    chosen = ["--methods", "uniform,deep-mlp,deep-K2,focal-3"]
    text = compare(file, "--noise", "flip:0.4", *chosen, "--print-config")
    assert '# deep-mlp = { name = "deep", teacher = "mlp"' in text
    assert '# uniform = { name = "uniform" }' in text
    read = tomllib.loads(text)
    assert read["rows"]["deep-K2"]["every"] == 2
    assert read["rows"]["deep-K2"]["trusted_share"] == 0.1
    assert "method" not in read
    (tmp_path / "again.toml").write_text(text, encoding="utf-8")
    again = planned(str(tmp_path / "again.toml"), *chosen)
    assert again == planned(file, "--noise", "flip:0.4", *chosen)


def test_a_dot_in_a_name_survives_printing(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('[rows."focal-0.1"]\nname = "focal"\ngamma = 0.1\n')
    text = compare(str(tmp_path / "a.toml"), "--methods", "focal-0.1", "--print-config")
    assert tomllib.loads(text)["rows"] == {"focal-0.1": {"name": "focal", "gamma": 0.1}}


def test_other_verbs_say_whose_rows_are(file: str) -> None:
    with pytest.raises(UsageError, match="rows are for reweigh compare alone"):
        CliRunner().invoke(app, ["train", file, "--dry-run"], catch_exceptions=False)


def test_help_tells_of_rows() -> None:
    text = " ".join(compare("--help").split())
    assert "[rows.NAME]" in text
    assert "[method] in CONFIG is not used" in text
