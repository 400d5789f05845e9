"""A signal to all processes of `compare --jobs 2`, busy or idle: all are saved, all are gone."""

import os
import signal
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

from tests.faults.fault import Fault
from tests.training.small import TINY

from reweigh.training.run_records import read_status

_BUSY = {"one worker idle": "uniform", "both busy": "uniform,focal"}
_PATIENCE = 240.0  # seconds; three processes import torch
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _compare(methods: str, folder: Path) -> subprocess.Popen[str]:
    """A comparison that would take hours, in a process group of its own."""
    settings = [f"--set={text}" for text in (*TINY, "training.epochs=100000")]
    command = [sys.executable, "-m", "reweigh", "compare", "--methods", methods, "--seeds", "1"]
    command += ["--jobs", "2", "--quiet", "--out", str(folder), *settings]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)


def _attempt(case: tuple[str, signal.Signals], folder: Path) -> None:
    workers, number = case
    methods = _BUSY[workers]
    table = _compare(methods, folder)
    try:
        _wait_for(lambda: len({*folder.glob("*/checkpoints")}) == len(methods.split(",")))
        os.killpg(table.pid, number)
        said = table.communicate(timeout=_PATIENCE)[1]
        _wait_for(lambda: not _is_there(table.pid))
    finally:
        if _is_there(table.pid):
            os.killpg(table.pid, signal.SIGKILL)
    assert table.returncode == 75, said
    assert "the same command goes on" in said
    assert "Traceback" not in said
    assert {read_status(home.parent) for home in folder.glob("*/checkpoints")} == {"interrupted"}
    assert not [*folder.glob("**/*.tmp-*"), *folder.glob(".stop-*")]


def _wait_for(condition) -> None:
    end = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.1)


def _is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


GROUPS = Fault("signals to all of compare --jobs 2", 0, [*product(_BUSY, _SIGNALS)], _attempt)
