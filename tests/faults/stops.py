"""SIGTERM and Ctrl-C in every phase: saved, exit code 75, continued to the same bits."""

import os
import signal
from itertools import product
from pathlib import Path
from typing import Any

from tests.faults.fault import Fault, in_child
from tests.faults.whole import assert_goes_on, go_on, whole
from tests.training.interrupted import tiny

from reweigh.methods.l2t_data import L2TData
from reweigh.training import checkpoint, run
from reweigh.training.loop import Loop
from reweigh.training.run_records import read_status
from reweigh.training.tasks.classification import Classification

_PHASES: dict[str, tuple[Any, str]] = {
    "data preparation": (run, "prepared"),
    "trials": (L2TData, "reweigher"),
    "training": (Loop, "step"),
    "trusted evaluation": (Classification, "standing"),
    "saving": (checkpoint, "write_through"),
    "test evaluation": (Classification, "score"),
}
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def _asked(phase: str, number: signal.Signals) -> None:
    owner, name = _PHASES[phase]
    original, calls = getattr(owner, name), iter(range(10**9))

    def asked(*arguments: Any) -> Any:
        if next(calls) == 0:
            os.kill(os.getpid(), number)
        return original(*arguments)

    setattr(owner, name, asked)


def _attempt(case: tuple[str, signal.Signals], folder: Path) -> None:
    config = tiny("l2t-data")
    whole(config)

    def work() -> None:
        _asked(*case)
        go_on(config, folder / "run")

    assert in_child(work) == 75
    if case[0] != "data preparation":
        assert read_status(folder / "run") == "interrupted"
    assert_goes_on(config, folder / "run")


STOPS = Fault("SIGTERM, Ctrl-C by phase", 0, [*product(_PHASES, _SIGNALS)], _attempt)
