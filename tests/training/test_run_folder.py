import errno
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from reweigh.config import RunConfig, read_config, run_id
from reweigh.config.reading import check
from reweigh.errors import CheckpointError, DataError, InterruptedRun, UsageError
from reweigh.training import run_folder
from reweigh.training.run_folder import RunFolder, default_folder
from reweigh.training.run_records import read_metrics, read_status

COMMAND = ["reweigh", "train", "--set", "data.name=two words"]


def test_a_run_leaves_everything_that_explains_it(tmp_path: Path) -> None:
    config = read_config(None, {}, ["seed=4"])
    with RunFolder.create(tmp_path / "run", config, COMMAND) as run:
        assert read_status(run.path) == "running"
        run.metrics({"epoch": 0, "loss": 0.5})
        run.metrics({"epoch": 1, "loss": float("nan")})
        run.log("the trajectory is kept")
    assert read_status(run.path) == "done"
    assert check(tomllib.loads((run.path / "config.toml").read_text()), "test") == config
    assert (run.path / "command.txt").read_text() == "reweigh train --set 'data.name=two words'\n"
    assert read_metrics(run.path) == [{"epoch": 0, "loss": 0.5}, {"epoch": 1, "loss": None}]
    assert "the trajectory is kept" in (run.path / "log.txt").read_text()
    env = json.loads((run.path / "env.json").read_text())
    assert env["seed"] == 4
    assert env["run_id"] == run_id(config)
    assert env["packages"]["torch"]
    assert env["threads"] >= 1


def test_no_file_holds_the_folder_s_own_path(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "run", RunConfig(), COMMAND) as run:
        run.log("x")
    texts = [f.read_text() for f in run.path.iterdir()]
    assert not any(str(tmp_path) in text for text in texts)


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (InterruptedRun("asked to stop"), "interrupted"),
        (KeyboardInterrupt(), "interrupted"),
        (ZeroDivisionError("division by zero"), "failed"),
    ],
)
def test_the_status_tells_how_a_run_ended(tmp_path: Path, error: BaseException, word: str) -> None:
    run = RunFolder.create(tmp_path / "run", RunConfig(), COMMAND)
    with pytest.raises(type(error)), run:
        raise error
    state = json.loads((run.path / "status.json").read_text())
    assert state["status"] == word
    assert type(error).__name__ in state["reason"]


@pytest.mark.parametrize("error", [UsageError("no such layer"), DataError("no such image")])
def test_a_run_refused_before_its_first_metrics_leaves_nothing(tmp_path: Path, error) -> None:
    run = RunFolder.create(tmp_path / "run", RunConfig(), COMMAND)
    with pytest.raises(type(error)), run:
        raise error
    assert list(tmp_path.iterdir()) == []
    later = RunFolder.create(tmp_path / "run", RunConfig(), COMMAND)
    later.metrics({"epoch": 0})
    with pytest.raises(type(error)), later:
        raise error
    assert read_status(tmp_path / "run") == "failed"  # what was learned stays


def test_an_existing_run_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "precious").write_text("x")
    with pytest.raises(UsageError, match="never overwritten"):
        RunFolder.create(tmp_path / "run", RunConfig(), COMMAND)
    assert os.listdir(tmp_path / "run") == ["precious"]


def test_an_empty_folder_may_be_used(tmp_path: Path) -> None:
    RunFolder.create(tmp_path, RunConfig(), COMMAND).close()
    assert (tmp_path / "config.toml").is_file()


def test_a_failure_while_making_it_leaves_nothing(tmp_path: Path, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(run_folder, "_describe", full)
    with pytest.raises(UsageError, match="No space left"):
        RunFolder.create(tmp_path / "run", RunConfig(), COMMAND)
    assert list(tmp_path.iterdir()) == []


SECOND_WRITER = """
import sys
from pathlib import Path
from reweigh.errors import UsageError
from reweigh.training.run_folder import RunFolder
try:
    RunFolder.reopen(Path(sys.argv[1])).close()
except UsageError as error:
    print(error)
"""


def test_two_writers_are_kept_apart_and_a_stale_lock_is_harmless(tmp_path: Path) -> None:
    def other_process() -> str:
        command = [sys.executable, "-c", SECOND_WRITER, str(run.path)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    run = RunFolder.create(tmp_path / "run", RunConfig(), COMMAND)
    assert "being written by another process" in other_process()
    run.close()
    assert (run.path / "lock").exists()
    assert other_process() == ""


def test_reopening_appends(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "run", RunConfig(), COMMAND) as run:
        run.metrics({"epoch": 0})
    with RunFolder.reopen(run.path) as again:
        again.metrics({"epoch": 1})
    assert [row["epoch"] for row in read_metrics(run.path)] == [0, 1]
    with pytest.raises(UsageError, match="not a run folder"):
        RunFolder.reopen(tmp_path)


def test_a_line_cut_off_by_a_crash_is_left_out(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "run", RunConfig(), COMMAND) as run:
        run.metrics({"epoch": 0})
    with (run.path / "metrics.jsonl").open("a") as file:
        file.write('{"epo')
    assert read_metrics(run.path) == [{"epoch": 0}]
    with RunFolder.reopen(run.path) as again:
        again.metrics({"epoch": 1})
    assert read_metrics(run.path) == [{"epoch": 0}, {"epoch": 1}]


def test_what_a_kill_left_of_a_folder_in_the_making_goes_at_the_next_start(tmp_path: Path) -> None:
    left = tmp_path / f".run.tmp-{2**22 + 1}"
    left.mkdir()
    (left / "config.toml").write_text("half")
    RunFolder.create(tmp_path / "run", RunConfig(), COMMAND).close()
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def trouble(number: int, filename: Path | None = None) -> OSError:
    named = () if filename is None else (str(filename),)
    return OSError(number, os.strerror(number), *named)


def test_trouble_with_the_disk_is_told_in_a_sentence(tmp_path: Path) -> None:
    for i, name in enumerate((None, tmp_path / "0" / "model.safetensors")):
        run = RunFolder.create(tmp_path / str(i), RunConfig(), COMMAND)
        with pytest.raises(CheckpointError, match="No space left on device; what was saved"), run:
            raise trouble(errno.ENOSPC, name if name is None else run.path / name.name)
        assert read_status(run.path) == "interrupted"


@pytest.mark.parametrize("error", [trouble(errno.ENOENT, Path("/other")), trouble(errno.EPIPE)])
def test_other_errors_of_the_system_stay_what_they_are(tmp_path: Path, error: OSError) -> None:
    run = RunFolder.create(tmp_path / "run", RunConfig(), COMMAND)
    with pytest.raises(type(error)) as caught, run:
        raise error
    assert caught.value is error


def test_a_folder_that_is_gone_is_told_at_the_latest_when_the_run_ends(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "run", RunConfig(), COMMAND)
    with pytest.raises(CheckpointError, match="No such file or directory"), run:
        shutil.rmtree(run.path)
    assert list(tmp_path.iterdir()) == []


def test_the_default_name_is_readable_and_safe() -> None:
    config = read_config(None, {}, ["data.name=../my set.csv", "data.noise=flip:0.4", "seed=2"])
    folder = default_folder(config)
    assert folder.parent == Path("runs")
    assert f"_my-set-flip-0.4_deep_s2_{run_id(config)[:8]}" in folder.name


def test_a_run_that_is_taken_up_again_is_never_taken_away(tmp_path: Path) -> None:
    """It may be refused for where it is called from, and hold weights or somebody's notes."""
    home = tmp_path / "run"
    RunFolder.create(home, read_config(None, {}, []), COMMAND).close()
    (home / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="elsewhere"), RunFolder.reopen(home):
        raise UsageError("called from elsewhere")
    assert (home / "notes.txt").read_text() == "mine"


def test_a_disk_without_locks_holds_runs_and_warns(tmp_path: Path, monkeypatch, caplog) -> None:
    def without(*_: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(run_folder.fcntl, "flock", without)
    with RunFolder.create(tmp_path / "run", read_config(None, {}, []), COMMAND) as run:
        run.metrics({"epoch": 0})
    assert "on a disk without locks" in caplog.text
    assert read_status(tmp_path / "run") == "done"
