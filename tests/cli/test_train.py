import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reweigh.cli.app import app
from reweigh.errors import UsageError


def train(*arguments: str) -> str:
    return CliRunner().invoke(app, ["train", *arguments], catch_exceptions=False).stdout


def test_options_and_set_reach_the_settings() -> None:
    text = train(
        *("--data", "digits", "--data-dir", "d", "--noise", "flip:0.4", "--method", "focal"),
        *("--epochs", "2", "--seed", "7", "--device", "cpu", "--threads", "1"),
        *("--set", "method.gamma=2", "--set", "training.lr=0.5", "--print-config", "--json"),
    )
    settings = json.loads(text)
    assert settings["data"]["name"] == "digits"
    assert settings["data"]["dir"] == "d"
    assert settings["data"]["noise"] == "flip:0.4"
    assert settings["method"] == {"name": "focal", "gamma": 2.0}
    assert settings["training"]["epochs"] == 2
    assert settings["training"]["lr"] == 0.5
    assert (settings["seed"], settings["device"], settings["threads"]) == (7, "cpu", 1)


def test_a_printed_configuration_is_a_settings_file(tmp_path: Path) -> None:
    text = train("--noise", "flip:0.4", "--print-config")
    file = tmp_path / "mine.toml"
    file.write_text(text)
    assert tomllib.loads(train(str(file), "--print-config")) == tomllib.loads(text)
    assert "# B: student steps that the meta-gradient looks back through" in text


def test_another_method_replaces_the_file_s_whole_table(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[method]\nname = 'deep'\nevery = 5\n")
    text = train(str(file), "--method", "uniform", "--print-config", "--json")
    assert json.loads(text)["method"] == {"name": "uniform"}


def test_bad_settings_stop_before_anything_is_written(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"training\.lr = -1"):
        train("--set", "training.lr=-1", "--out", "run")
    assert list(tmp_path.iterdir()) == []
