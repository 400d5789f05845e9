import json
import os
import signal
from pathlib import Path

import pytest
from tests.training.interrupted import asked_after
from tests.training.small import TINY

from reweigh.cli.app import main
from reweigh.training import keeper, run
from reweigh.training.run_records import read_status

SETTINGS = [part for text in (*TINY, "method.name=uniform") for part in ("--set", text)]


def reweigh(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main([*arguments, "--quiet"])
    return int(caught.value.code or 0)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def interrupted(monkeypatch, capsys) -> Path:
    with monkeypatch.context() as patch:
        asked_after(patch, 3)
        assert reweigh("train", *SETTINGS, "--out", "run") == 75
    assert "Continue with: reweigh resume run" in capsys.readouterr().err
    assert read_status(Path("run")) == "interrupted"
    return Path("run")


def test_an_interrupted_run_is_continued_and_then_only_shown(interrupted: Path, capsys) -> None:
    assert reweigh("resume", "run", "--json") == 0
    first = json.loads(capsys.readouterr().out)
    assert read_status(interrupted) == "done"
    rows = (interrupted / "metrics.jsonl").read_text()
    assert reweigh("resume", "run", "--json") == 0
    assert json.loads(capsys.readouterr().out) == first
    assert (interrupted / "metrics.jsonl").read_text() == rows


def test_another_thread_count_is_refused_or_stated(interrupted: Path, capsys) -> None:
    assert reweigh("resume", "run", "--threads", "2") == 4
    assert "threads was 1, now 2" in capsys.readouterr().err
    assert reweigh("resume", "run", "--threads", "2", "--allow-drift") == 0
    assert "allowed: threads was 1, now 2" in (interrupted / "log.txt").read_text()
    run.torch.set_num_threads(1)


def test_another_number_of_processes_is_refused_or_stated(
    interrupted: Path, capsys, monkeypatch
) -> None:
    assert json.loads((interrupted / "env.json").read_text())["world_size"] == 1
    monkeypatch.setattr(keeper, "world", lambda: 2)
    assert reweigh("resume", "run") == 4
    assert "world_size was 1, now 2" in capsys.readouterr().err
    assert reweigh("resume", "run", "--allow-drift") == 0
    assert "allowed: world_size was 1, now 2" in (interrupted / "log.txt").read_text()


def test_changed_data_are_refused_whatever_is_allowed(interrupted: Path, capsys) -> None:
    config = (interrupted / "config.toml").read_text()
    (interrupted / "config.toml").write_text(config.replace("flip:0.4", "flip:0.3"))
    assert reweigh("resume", "run", "--allow-drift") == 4
    assert "the data have changed" in capsys.readouterr().err


def test_train_resume_auto_goes_on_or_begins(monkeypatch, capsys) -> None:
    with monkeypatch.context() as patch:
        asked_after(patch, 3)
        assert reweigh("train", *SETTINGS, "--resume", "auto") == 75
    assert reweigh("train", *SETTINGS, "--resume", "auto") == 0
    (folder,) = Path("runs").iterdir()
    assert read_status(folder) == "done"
    assert "continued from the checkpoint at step 3" in (folder / "log.txt").read_text()
    assert reweigh("train", *SETTINGS, "--resume", "auto") == 0


def test_train_resume_refuses_a_folder_with_other_settings(interrupted: Path, capsys) -> None:
    assert reweigh("train", *SETTINGS, "--seed", "5", "--resume", "auto", "--out", "run") == 2
    assert "other settings" in capsys.readouterr().err
    assert reweigh("train", "--resume", "run") == 2
    assert "reweigh resume run" in capsys.readouterr().err


def test_a_folder_without_a_run_is_refused(capsys) -> None:
    assert reweigh("resume", "nowhere") == 2
    assert "not a run folder" in capsys.readouterr().err


def test_a_signal_while_data_are_prepared_writes_nothing(monkeypatch, capsys) -> None:
    prepare = run.prepared

    def asked(spec):
        os.kill(os.getpid(), signal.SIGTERM)
        return prepare(spec)

    monkeypatch.setattr(run, "prepared", asked)
    assert reweigh("train", *SETTINGS, "--out", "run") == 75
    assert "Nothing was written yet" in capsys.readouterr().err
    assert list(Path().iterdir()) == []
