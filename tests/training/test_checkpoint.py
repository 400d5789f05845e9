import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from reweigh.errors import CheckpointError
from reweigh.training import checkpoint
from reweigh.training.checkpoint import Checkpoints

WITH = {"torch": torch.__version__, "threads": 1}
FILES = ("model.safetensors", "state.pt", "manifest.json")


def save(home: Checkpoints, step: int) -> None:
    student = {"weight": torch.full((5, 3), float(step)), "count": torch.tensor(step)}
    state = {"step": step, "list": [torch.tensor([step]), 0.5, "word", None, True]}
    home.save(step, student, state, WITH)


def written(folder: Path, *steps: int) -> Checkpoints:
    home = Checkpoints(folder)
    for step in steps:
        save(home, step)
    return home


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    written(tmp_path, 3)
    found = Checkpoints(tmp_path).newest()
    assert found is not None
    assert found.step == 3
    assert found.made_with == WITH
    assert torch.equal(found.student["weight"], torch.full((5, 3), 3.0))
    assert found.state["list"] == [torch.tensor([3]), 0.5, "word", None, True]
    assert {f.name for f in (tmp_path / "step_00000003").iterdir()} == set(FILES)


def test_no_checkpoint_is_none(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path / "none").newest() is None


def test_the_last_two_stay(tmp_path: Path) -> None:
    home = written(tmp_path, 1, 2, 3, 10)
    assert home.steps() == [3, 10]
    assert home.has(10)
    assert not home.has(2)


def test_the_one_just_written_stays_whatever_its_number(tmp_path: Path) -> None:
    home = written(tmp_path, 20, 30)
    save(home, 7)
    assert 7 in home.steps()


def test_left_over_folders_go_at_the_next_start(tmp_path: Path) -> None:
    written(tmp_path, 1)
    shutil.copytree(tmp_path / "step_00000001", tmp_path / "step_00000002.tmp-77")
    assert Checkpoints(tmp_path).steps() == [1]
    assert [f.name for f in tmp_path.iterdir()] == ["step_00000001"]


@pytest.mark.parametrize("name", FILES)
def test_every_flipped_bit_is_noticed(tmp_path: Path, name: str) -> None:
    """Twenty places in each file, by seed 0; the file is as it was in between."""
    written(tmp_path, 1)
    file = tmp_path / "step_00000001" / name
    good, places = file.read_bytes(), np.random.default_rng(0)
    for _ in range(20):
        raw = bytearray(good)
        raw[places.integers(len(raw))] ^= 1 << int(places.integers(8))
        file.write_bytes(raw)
        with pytest.raises(CheckpointError, match="damaged"):
            Checkpoints(tmp_path).newest()
    file.write_bytes(good)
    assert Checkpoints(tmp_path).newest() is not None


@pytest.mark.parametrize("name", FILES)
def test_a_file_cut_short_or_gone_is_noticed(tmp_path: Path, name: str) -> None:
    written(tmp_path, 1)
    file = tmp_path / "step_00000001" / name
    good = file.read_bytes()
    for length in (0, 1, len(good) // 2, len(good) - 1):
        file.write_bytes(good[:length])
        with pytest.raises(CheckpointError, match="damaged"):
            Checkpoints(tmp_path).newest()
    file.unlink()
    with pytest.raises(CheckpointError, match="damaged"):
        Checkpoints(tmp_path).newest()


def test_a_file_of_another_step_is_noticed(tmp_path: Path) -> None:
    written(tmp_path, 1, 2)
    shutil.copy(tmp_path / "step_00000001" / "state.pt", tmp_path / "step_00000002")
    found = Checkpoints(tmp_path).newest()
    assert found is not None
    assert found.step == 1
    shutil.copytree(tmp_path / "step_00000001", tmp_path / "step_00000005")
    again = Checkpoints(tmp_path).newest()
    assert again is not None
    assert again.step == 1


def test_the_one_before_a_damaged_one_is_taken_and_said(tmp_path: Path, caplog) -> None:
    written(tmp_path, 1, 2)
    (tmp_path / "step_00000002" / "state.pt").write_bytes(b"")
    home = Checkpoints(tmp_path)
    found = home.newest()
    assert found is not None
    assert found.step == 1
    assert "state.pt was changed" in caplog.text
    assert "step 1" in caplog.text
    assert home.steps() == [1]
    assert (tmp_path / "step_00000002.bad").is_dir()


def test_a_pickle_that_runs_code_is_refused_though_its_hash_is_right(tmp_path: Path) -> None:
    class Hostile:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "canary"),)

    raw = pickle.dumps(Hostile(), protocol=2)
    written(tmp_path / "c", 1)
    home = tmp_path / "c" / "step_00000001"
    (home / "state.pt").write_bytes(raw)
    model = (home / "model.safetensors").read_bytes()
    files = {"model.safetensors": model, "state.pt": raw}
    (home / "manifest.json").write_bytes(checkpoint._manifest(1, files, WITH))
    with pytest.raises(CheckpointError, match="cannot be read"):
        Checkpoints(tmp_path / "c").newest()
    assert not (tmp_path / "canary").exists()


def test_a_full_disk_leaves_the_one_before(tmp_path: Path, monkeypatch) -> None:
    home = written(tmp_path, 1)
    write = checkpoint.write_through

    def full(path: Path, content: bytes) -> None:
        if path.name == "state.pt":
            path.write_bytes(content[:9])
            raise OSError(28, "No space left on device")
        write(path, content)

    monkeypatch.setattr(checkpoint, "write_through", full)
    with pytest.raises(CheckpointError, match="No space left on device"):
        save(home, 2)
    assert [f.name for f in tmp_path.iterdir()] == ["step_00000001"]
    assert Checkpoints(tmp_path).newest() is not None


def test_the_manifest_is_written_last(tmp_path: Path, monkeypatch) -> None:
    order = []
    write = checkpoint.write_through
    monkeypatch.setattr(
        checkpoint, "write_through", lambda p, c: (order.append(p.name), write(p, c))
    )
    written(tmp_path, 1)
    assert order == ["model.safetensors", "state.pt", "manifest.json"]
    assert json.loads((tmp_path / "step_00000001/manifest.json").read_text())["step"] == 1


WRITER = """
import sys, torch
from pathlib import Path
from reweigh.training.checkpoint import Checkpoints
home = Checkpoints(Path(sys.argv[1]))
for step in range(int(sys.argv[2]), 1_000_000):
    home.save(step, {"w": torch.full((300_000,), float(step))}, {"step": step}, {})
    print(step, flush=True)
"""


def test_a_kill_in_a_save_leaves_a_good_one(tmp_path: Path) -> None:
    """The writer does nothing but save, so that every kill falls into a save."""
    random, first = np.random.default_rng(0), 0
    for _ in range(2):
        command = [sys.executable, "-c", WRITER, str(tmp_path), str(first)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            last = int(writer.stdout.readline())
            time.sleep(random.uniform(0, 0.1))
            writer.send_signal(signal.SIGKILL)
            last = max([last, *(int(line) for line in writer.stdout if line.strip())])
        found = Checkpoints(tmp_path).newest()
        assert found is not None
        assert found.step >= last
        assert (found.student["w"] == found.step).all()
        assert not list(tmp_path.glob("*.tmp-*"))
        first = found.step + 1
