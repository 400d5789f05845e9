import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reweigh import __version__
from reweigh.cli import app, screen
from reweigh.errors import CheckpointError, DataError, DivergedError, InterruptedRun, UsageError


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        app.main(list(arguments))
    return int(caught.value.code or 0)


def test_version_and_help(capsys) -> None:
    assert run("--version") == 0
    assert capsys.readouterr().out == f"reweigh {__version__}\n"
    assert run("--help") == 0
    for verb in ("train", "compare", "demo", "data", "bench", "doctor"):
        assert verb in capsys.readouterr().out or run(verb, "--help") == 0


@pytest.mark.parametrize("verb", ["train", "compare", "demo", "doctor", "data show", "data get"])
def test_help_teaches_by_example(verb: str, capsys) -> None:
    assert run(*verb.split(), "--help") == 0
    assert f"reweigh {verb} " in capsys.readouterr().out.partition("Example")[2]


def test_an_unknown_option_is_wrong_usage(capsys) -> None:
    assert run("train", "--bogus") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "--bogus" in captured.err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError, 2),
        (DataError, 3),
        (CheckpointError, 4),
        (DivergedError, 5),
        (InterruptedRun, 75),
    ],
)
def test_errors_are_one_sentence_and_an_exit_code(
    error: type[Exception], code: int, capsys, monkeypatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error("the value, the expectation, the way out.")

    monkeypatch.setattr("reweigh.config.read_config", fail)
    assert run("train", "--print-config", "--json") == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "reweigh: the value, the expectation, the way out.\n"
    assert run("train", "--print-config", "--debug") == code
    assert "Traceback" in capsys.readouterr().err


def test_ctrl_c_is_130(monkeypatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("reweigh.config.read_config", interrupt)
    assert run("train", "--print-config") == 130


def unexpected(tmp_path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """A process in which reading the settings fails in a way that nobody foresaw."""
    code = (
        "import sys, reweigh.config\n"
        "from reweigh.cli.app import main\n"
        "def fail(*_, **__): raise ZeroDivisionError('nobody foresaw')\n"
        "reweigh.config.read_config = fail\n"
        f"main(['train', *{list(options)!r}])\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )


def test_unexpected_errors_leave_a_log_and_no_traceback(tmp_path: Path) -> None:
    done = unexpected(tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        "reweigh: unexpected ZeroDivisionError: nobody foresaw. The traceback is in error.log.\n"
    )
    assert "Traceback" in (tmp_path / "error.log").read_text()


def test_debug_shows_the_traceback_and_writes_nothing(tmp_path: Path) -> None:
    done = unexpected(tmp_path, "--debug")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_log_goes_to_the_run_folder(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(screen.screen, "folder", tmp_path)
    screen.report_unexpected(ZeroDivisionError, ZeroDivisionError("x"), None)
    assert "ZeroDivisionError" in (tmp_path / "error.log").read_text()
    assert str(tmp_path / "error.log") in capsys.readouterr().err


def test_nothing_heavy_is_imported_for_help() -> None:
    code = (
        "import sys, reweigh.cli.app\n"
        "heavy = {'torch', 'numpy', 'sklearn', 'pydantic', 'scipy', 'pandas'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_takes_less_than_half_a_second_of_processor_time() -> None:
    costs = []
    for _ in range(3):
        before = os.times()
        subprocess.run(
            [sys.executable, "-m", "reweigh", "--help"], stdout=subprocess.DEVNULL, check=True
        )
        after = os.times()
        costs.append(
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
    assert min(costs) < 0.5


def test_python_m_is_the_same_command() -> None:
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "reweigh", "train", "--print-config", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["method"]["name"] == "deep"
    assert time.monotonic() - start < 60
