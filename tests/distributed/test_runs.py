"""A run over two processes: as good as in one, stopped by a signal to either, and taken up again."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from tests.distributed.runs import run_story, settings

from reweigh.errors import CheckpointError
from reweigh.training.progress import SilentProgress
from reweigh.training.run import resume, train
from reweigh.training.run_records import read_metrics, read_status


@pytest.fixture(scope="module")
def story(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("story")
    run_story(folder)
    train(settings(), folder / "one", SilentProgress())
    return folder


def weights(run: Path) -> np.ndarray:
    return np.stack([np.load(file) for file in sorted((run / "weights").glob("*.npy"))])


def test_a_signal_to_one_process_stops_all(story: Path):
    for rank in (0, 1):
        ends = (story / f"ends_{rank}.txt").read_text().splitlines()
        assert ends[0] == "done"
        assert ends[1].startswith("InterruptedRun: Stopped by")
        assert ends[2] == "done"
    assert "SIGTERM" in (story / "ends_1.txt").read_text()


def test_two_processes_learn_what_one_learns(story: Path):
    one, two = (
        load_file(story / "one/model.safetensors"),
        load_file(story / "whole/model.safetensors"),
    )
    assert one.keys() == two.keys()
    for name, value in one.items():
        np.testing.assert_allclose(two[name], value, rtol=2e-3, atol=2e-4)
    np.testing.assert_allclose(
        weights(story / "whole"), weights(story / "one"), rtol=1e-2, atol=1e-2
    )
    for a, b in zip(read_metrics(story / "one"), read_metrics(story / "whole"), strict=True):
        assert b["train_loss"] == pytest.approx(a["train_loss"], rel=1e-3)


def test_a_run_that_was_stopped_ends_in_the_same_bits(story: Path):
    assert read_status(story / "stopped") == "done"
    for file in ("model", "best", "teacher"):
        a, b = (load_file(story / run / f"{file}.safetensors") for run in ("whole", "stopped"))
        assert all(np.array_equal(a[name], b[name]) for name in a)
    assert np.array_equal(weights(story / "whole"), weights(story / "stopped"), equal_nan=True)


def test_the_number_of_processes_is_recorded_and_another_is_refused(story: Path):
    assert json.loads((story / "whole/env.json").read_text())["world_size"] == 2
    status = story / "stopped/status.json"
    status.write_text(json.dumps({"status": "interrupted"}))
    with pytest.raises(CheckpointError, match="world_size was 2, now 1"):
        resume(story / "stopped", SilentProgress())
