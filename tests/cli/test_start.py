"""Ctrl-C while modules load, and before: one sentence, 130, nothing written."""

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from reweigh.cli import start

ROOT = Path(__file__).parents[2]
SENTENCE = "reweigh: stopped by Ctrl-C.\n"
SPOILED = """
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
except BaseException as error:
    raise ImportError("initialization failed") from error
"""
READY = """
import sys
from reweigh.cli.start import start
sys.argv = ["reweigh", "train", "--data", "digits", "--epochs", "500", "--out", "run"]
print("ready", flush=True)
start()
"""


def begun(*arguments: str, path: Path, cwd: Path) -> subprocess.Popen[str]:
    """A process that hears Ctrl-C, which is ignored in jobs of a shell without job control."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return subprocess.Popen(
            [sys.executable, *arguments], cwd=cwd, text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(path), str(ROOT / "src")])},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_library_that_makes_another_error_of_it_does_not_hide_it(tmp_path: Path) -> None:
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "typer.py").write_text(SPOILED)
    (tmp_path / "here").mkdir()
    process = begun("-m", "reweigh", "doctor", path=tmp_path / "path", cwd=tmp_path / "here")
    assert process.communicate(timeout=120) == ("", SENTENCE)
    assert process.returncode == 130
    assert not list((tmp_path / "here").iterdir())


def test_outside_of_imports_it_is_raised_as_ever() -> None:
    with pytest.raises(KeyboardInterrupt):
        start.stop(signal.SIGINT, sys._getframe())


def test_where_ctrl_c_is_ignored_it_stays_so(monkeypatch) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        monkeypatch.setattr("reweigh.cli.app.main", lambda: None)
        start.start()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_before_there_are_verbs_it_is_a_sentence(monkeypatch, capsys) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr("reweigh.cli.app.main", interrupted)
    try:
        with pytest.raises(SystemExit) as left:
            start.start()
    finally:
        signal.signal(signal.SIGINT, before)
    assert left.value.code == 130
    assert capsys.readouterr().err == SENTENCE


def test_the_installed_command_begins_here() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"reweigh": f"{start.__name__}:{start.start.__name__}"}


@pytest.mark.slow
@pytest.mark.parametrize("tenths", [0, 1, 2, 3, 5, 8, 12, 16, 20, 25, 30, 40, 50])
def test_at_any_moment_of_loading_it_is_a_sentence(tmp_path: Path, tenths: int) -> None:
    """Once training has begun, on a fast machine, the run is saved instead."""
    process = begun("-c", READY, path=tmp_path, cwd=tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    try:
        process.wait(0.02 + tenths / 10)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=120)
    assert (process.returncode, told.count("Traceback")) in ((130, 0), (75, 0))
    assert not (tmp_path / "error.log").exists()
    if process.returncode == 130:
        assert told == SENTENCE
        assert not list(tmp_path.iterdir())
