import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.methods.blobs import problem
from tests.training.interrupted import asked_after
from tests.training.small import settings

from reweigh import signals
from reweigh.comparing import compare as module
from reweigh.comparing import one_run, unchanged
from reweigh.comparing.compare import Comparison, compare
from reweigh.config import RunConfig
from reweigh.errors import DataError, InterruptedRun, UnwritableError, UsageError
from reweigh.training import run
from reweigh.training.progress import SilentProgress
from reweigh.training.run_folder import RunFolder
from reweigh.training.run_records import read_status

Runs = list[tuple[str, RunConfig]]
_RECORD = {"fingerprint": "aaa"}


@pytest.fixture(autouse=True)
def _tiny_problem(monkeypatch) -> None:
    monkeypatch.setattr(run, "prepared", lambda spec: problem())


def runs(*methods: str, seeds: int = 1) -> Runs:
    return [
        (name, settings(f"method.name={name}", f"seed={seed}"))
        for name in methods
        for seed in range(seeds)
    ]


def compared(wanted: Runs, folder: Path, jobs: int = 1) -> Comparison:
    return compare(wanted, folder, SilentProgress(), jobs)


@pytest.fixture
def trained(monkeypatch) -> list[str]:
    """The names of the run folders that were trained, in order."""
    names: list[str] = []

    def counted(config, folder, *rest, **options):
        names.append(folder.name.partition("_")[0])
        return run.train(config, folder, *rest, **options)

    monkeypatch.setattr(one_run, "train", counted)
    return names


def test_finished_runs_are_skipped(tmp_path: Path, trained: list[str]) -> None:
    first = compared(runs("uniform", "focal"), tmp_path)
    again = compared(runs("uniform", "focal", "trusted-only"), tmp_path)
    assert trained == ["uniform", "focal", "trusted-only"]
    assert again.rows[:2] == first.rows


def test_finished_runs_on_other_data_are_neither_taken_nor_lost(
    tmp_path: Path, trained: list[str], monkeypatch
) -> None:
    """The settings are the same, what is in the file that they name is not."""
    monkeypatch.setattr(run, "prepared", lambda spec: replace(problem(), record=_RECORD))
    monkeypatch.setattr(unchanged, "prepared", lambda spec: replace(problem(), record=_RECORD))
    compared(runs("uniform"), tmp_path)
    compared(runs("uniform", "focal"), tmp_path)
    other = _RECORD | {"fingerprint": "bbb"}
    monkeypatch.setattr(unchanged, "prepared", lambda spec: replace(problem(), record=other))
    with pytest.raises(UsageError, match=r"uniform_s0_.* was trained on data that .* no longer"):
        compared(runs("uniform", "trusted-only"), tmp_path)
    assert trained == ["uniform", "focal"]
    assert len(list(tmp_path.glob("*/result.json"))) == 2


@pytest.mark.parametrize("word", ["interrupted", "running", "failed"])
def test_an_unfinished_run_goes_on(tmp_path: Path, trained: list[str], word: str) -> None:
    (row,) = compared(runs("uniform"), tmp_path).rows
    home = Path(row["folder"])
    (home / "status.json").write_text(json.dumps({"status": word}))
    (again,) = compared(runs("uniform"), tmp_path).rows
    assert trained == ["uniform"]
    assert read_status(home) == "done"
    assert "continued from the checkpoint" in (home / "log.txt").read_text()
    assert again["test_error_last"] == row["test_error_last"]


def test_a_run_without_a_checkpoint_to_go_on_from_starts_again(
    tmp_path: Path, trained: list[str]
) -> None:
    (row,) = compared(runs("uniform"), tmp_path).rows
    home = Path(row["folder"])
    (home / "status.json").write_text('{"status": "failed"}')
    shutil.rmtree(home / "checkpoints")
    (home / "left-over").write_text("x")
    compared(runs("uniform"), tmp_path)
    assert not (home / "left-over").exists()
    (home / "status.json").write_text('{"status": "interrupted"}')
    for file in home.glob("checkpoints/*/state.pt"):
        file.write_bytes(b"")
    compared(runs("uniform"), tmp_path)
    assert trained == ["uniform", "uniform", "uniform"]
    assert read_status(home) == "done"
    assert {path.name for path in tmp_path.iterdir()} == {home.name}


def test_a_run_that_would_go_on_otherwise_is_listed_and_kept(
    tmp_path: Path, monkeypatch, trained: list[str]
) -> None:
    (row, _) = compared(runs("uniform", "focal"), tmp_path).rows
    home = Path(row["folder"])
    (home / "status.json").write_text('{"status": "interrupted"}')
    kept = {path: path.read_bytes() for path in home.glob("checkpoints/*/*")}
    metrics = (home / "metrics.jsonl").read_text()
    with monkeypatch.context() as patch:
        patch.setattr("reweigh.training.keeper.__version__", "99.0")
        found = compared(runs("uniform", "focal"), tmp_path)
    assert "reweigh was" in found.failures["uniform, seed 0"]
    assert "reweigh resume --allow-drift" in found.failures["uniform, seed 0"]
    assert {path: path.read_bytes() for path in home.glob("checkpoints/*/*")} == kept
    assert (home / "metrics.jsonl").read_text() == metrics
    assert read_status(home) == "interrupted"
    assert len(compared(runs("uniform", "focal"), tmp_path).rows) == 2
    assert trained == ["uniform", "focal"]


def test_a_full_disk_and_another_number_of_jobs_cost_nothing_of_a_run(
    tmp_path: Path, monkeypatch, trained: list[str]
) -> None:
    (row,) = compared(runs("uniform"), tmp_path).rows
    home = Path(row["folder"])
    (home / "status.json").write_text('{"status": "interrupted"}')
    kept = sorted(home.glob("checkpoints/*/*"))

    def full(*_, **__):
        raise UnwritableError("Cannot write: no space left on device.")

    with monkeypatch.context() as patch:
        patch.setattr(one_run, "resume", full)
        with pytest.raises(UnwritableError):
            compared(runs("uniform"), tmp_path)
    assert sorted(home.glob("checkpoints/*/*")) == kept

    env = json.loads((home / "env.json").read_text())
    (home / "env.json").write_text(json.dumps(env | {"threads": 3}))  # began with three threads
    asked: list[int | None] = []
    monkeypatch.setattr(one_run, "resume", lambda *_, threads: asked.append(threads))
    compared(runs("uniform"), tmp_path)
    assert asked == [3]
    assert trained == ["uniform"]


def test_a_signal_stops_the_table_and_the_same_call_goes_on(
    tmp_path: Path, monkeypatch, trained: list[str]
) -> None:
    whole = compared(runs("uniform", "focal"), tmp_path / "whole")
    trained.clear()
    with monkeypatch.context() as patch:
        asked_after(patch, 3)
        with pytest.raises(InterruptedRun, match="the same command goes on"):
            compared(runs("uniform", "focal"), tmp_path / "parts")
    assert trained == ["uniform"]
    found = compared(runs("uniform", "focal"), tmp_path / "parts")
    assert trained == ["uniform", "focal"]
    for a, b in zip(whole.rows, found.rows, strict=True):
        assert a["test_error_last"] == b["test_error_last"]
    assert not list((tmp_path / "parts").glob(".stop*"))


class _Notes(SilentProgress):
    """Keeps what is said."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def note(self, text: str) -> None:
        self.said.append(text)


def test_after_a_signal_no_further_run_is_announced(tmp_path: Path, monkeypatch) -> None:
    asked_after(monkeypatch, 3)
    progress = _Notes()
    with pytest.raises(InterruptedRun, match="the same command goes on"):
        compare(runs("uniform", "focal", seeds=2), tmp_path, progress)
    assert [words for words in progress.said if ", seed " in words] == ["uniform, seed 0"]


def test_a_run_that_another_process_writes_is_left_alone(tmp_path: Path) -> None:
    (row,) = compared(runs("uniform"), tmp_path).rows
    home = Path(row["folder"])
    with RunFolder.reopen(home):  # the same process may not take the lock twice either
        with pytest.raises(UsageError, match="being written by another process"):
            compared(runs("uniform"), tmp_path)
        assert (home / "result.json").is_file()


def test_failures_are_listed_and_stop_nothing(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(run, "prepared", lambda spec: problem(known=False))
    found = compared(runs("perfect-weights", "uniform", "clean-labels"), tmp_path)
    assert [row["method"] for row in found.rows] == ["uniform"]
    assert list(found.failures) == ["perfect-weights, seed 0", "clean-labels, seed 0"]
    assert "needs the true labels" in found.outcome()["failures"]["clean-labels, seed 0"]
    json.dumps(found.outcome(), allow_nan=False)
    assert found.table().row_count == 3


def test_a_lack_of_memory_is_a_failure_of_one_row(tmp_path: Path, monkeypatch) -> None:
    begin = one_run._begin_or_go_on

    def scarce(config, home, progress) -> None:
        if config.method.name == "focal":
            raise RuntimeError("not enough memory: you tried to allocate 9 bytes\nmore lines")
        begin(config, home, progress)

    monkeypatch.setattr(one_run, "_begin_or_go_on", scarce)
    found = compared(runs("focal", "uniform"), tmp_path)
    assert [row["method"] for row in found.rows] == ["uniform"]
    assert found.outcome()["failures"]["focal, seed 0"].startswith(
        "RuntimeError: not enough memory"
    )


def test_where_all_fail_the_first_error_is_raised(tmp_path: Path, monkeypatch) -> None:
    def fail(spec: object) -> None:
        raise DataError("the file is gone.")

    monkeypatch.setattr(run, "prepared", fail)
    with pytest.raises(DataError, match="the file is gone"):
        compared(runs("uniform", "focal"), tmp_path)


def test_rows_have_what_programs_need(tmp_path: Path) -> None:
    found = compared(runs("uniform", "perfect-weights", seeds=2), tmp_path)
    assert [(r["method"], r["seed"]) for r in found.rows] == [
        ("uniform", 0), ("uniform", 1), ("perfect-weights", 0), ("perfect-weights", 1),
    ]  # fmt: skip
    for row in found.rows:
        assert 0 <= row["test_error_last"] <= 1
        assert 0 <= row["test_error_best_by_trusted"] <= 1
        assert row["cost"] > 0
        assert row["noise_auroc"] == (1.0 if row["method"] == "perfect-weights" else None)


def test_a_moved_table_is_taken_up_where_it_is(tmp_path: Path, trained: list[str]) -> None:
    compared(runs("uniform"), tmp_path / "a")
    shutil.move(tmp_path / "a", tmp_path / "b")
    (row,) = compared(runs("uniform"), tmp_path / "b").rows
    assert trained == ["uniform"]
    assert Path(row["folder"]).parent == tmp_path / "b"


def test_jobs_are_handed_out_with_their_part_of_the_cores(tmp_path: Path, monkeypatch) -> None:
    handed: list[tuple] = []

    def in_turn(n_jobs: int, return_as: str, initializer: object):
        assert n_jobs == 3
        assert initializer is signals.ignore_while_idle
        return lambda tasks: (handed.append(a) or f(*a, **k) for f, a, k in tasks)

    monkeypatch.setattr(module, "Parallel", in_turn)
    monkeypatch.setattr(module.os, "cpu_count", lambda: 7)
    unset = settings("method.name=uniform").model_copy(update={"threads": None})
    found = compared([("uniform", unset), *runs("focal", "perfect-weights")], tmp_path, jobs=3)
    assert [row["method"] for row in found.rows] == ["uniform", "focal", "perfect-weights"]
    assert [arguments[1].threads for arguments in handed] == [2, 1, 1]  # one was set to 1
    torch.set_num_threads(1)


@pytest.mark.slow
def test_two_jobs_give_what_one_gives(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.undo()  # processes of their own read the data themselves
    wanted = runs("uniform", "perfect-weights")
    one, two = compared(wanted, tmp_path / "1"), compared(wanted, tmp_path / "2", jobs=2)
    timeless = ("train_seconds", "cost", "folder")
    for a, b in zip(one.rows, two.rows, strict=True):
        assert {k: v for k, v in a.items() if k not in timeless} == {
            k: v for k, v in b.items() if k not in timeless
        }
