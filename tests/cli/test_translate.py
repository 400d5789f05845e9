from pathlib import Path

import pytest
import torch
from tests.training.toy_text import HOW, VERB, WHO, toy, write_toy
from typer.testing import CliRunner

from reweigh.cli.app import app
from reweigh.errors import CheckpointError, DataError, UsageError
from reweigh.training.progress import SilentProgress
from reweigh.training.run import train


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    torch.set_num_threads(1)
    place = tmp_path_factory.mktemp("translate")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place))
        config = toy(write_toy(place / "text"), "training.epochs=12")
        train(config, place / "run", SilentProgress())
    return place / "run"


def said(run: Path, text: str | bytes, *options: str):
    return CliRunner().invoke(app, ["translate", str(run), "--threads", "1", *options], input=text)


def test_lines_are_translated_in_their_order_and_empty_ones_stay(run: Path) -> None:
    result = said(run, "kind heute hund sieht\n\nfrau oft mann ruft\n", "--max-tokens", "20")
    assert result.exit_code == 0, result.output
    expected = [
        f"{WHO['kind']} {VERB['sieht']} {WHO['hund']} {HOW['heute']}",
        "",
        f"{WHO['frau']} {VERB['ruft']} {WHO['mann']} {HOW['oft']}",
    ]
    assert result.stdout.split("\n")[:3] == expected


def test_what_the_run_never_saw_is_told(run: Path) -> None:
    assert "unknown to this run" in said(run, "今日は 世界\n").stderr


@pytest.mark.parametrize(
    ("text", "error", "sentence"),
    [
        (b"", DataError, "nothing to translate"),
        (b"gr\xfc\xdfe\n", DataError, "line 1, is not UTF-8"),
        (b"a " * 20_000, DataError, "20,000 words"),
    ],
)
def test_bad_input_is_one_sentence(run: Path, text: bytes, error: type, sentence: str) -> None:
    result = said(run, text)
    assert isinstance(result.exception, error)
    assert sentence in str(result.exception)


def test_what_cannot_translate_is_refused(run: Path, tmp_path: Path) -> None:
    missing = said(tmp_path, "kind\n").exception
    assert isinstance(missing, UsageError)
    (tmp_path / "config.toml").write_text('task = "classification"')
    assert "cannot translate" in str(said(tmp_path, "kind\n").exception)
    (tmp_path / "config.toml").write_text((run / "config.toml").read_text())
    assert isinstance(said(tmp_path, "kind\n").exception, CheckpointError)
