"""The real launcher: a worker that is killed, all of them started again, the run done."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.distributed.runs import settings

from reweigh.config import to_toml
from reweigh.training.run_records import read_metrics, read_status

LAUNCH = ("-m", "torch.distributed.run", "--nproc-per-node", "2", "--max-restarts", "1")
EPOCHS = 40


def workers(launcher: int) -> list[int]:
    """The processes that a launcher has started."""
    children = Path(f"/proc/{launcher}/task/{launcher}/children").read_text()
    return [int(pid) for pid in children.split()]


@pytest.mark.slow
def test_a_killed_worker_is_replaced_and_the_run_goes_on(tmp_path: Path):
    (tmp_path / "run.toml").write_text(to_toml(settings(epochs=EPOCHS)))
    run = tmp_path / "run"
    command = [*LAUNCH, "-m", "reweigh", "train", str(tmp_path / "run.toml"), "-q"]
    with subprocess.Popen(
        [sys.executable, *command, "--out", str(run), "--resume", "auto"],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    ) as launcher:
        while not (run / "checkpoints").exists() or not read_metrics(run):
            assert launcher.poll() is None, "ended too early"
            time.sleep(0.1)
        os.kill(workers(launcher.pid)[-1], signal.SIGKILL)
        assert launcher.wait(250) == 0
    assert read_status(run) == "done"
    assert [row["epoch"] for row in read_metrics(run)] == list(range(EPOCHS))
    assert "continued from the checkpoint" in (run / "log.txt").read_text()
