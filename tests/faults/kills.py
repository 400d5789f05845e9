"""SIGKILL at any moment of a run, and at every operation inside a save."""

import os
import shutil
import signal
from pathlib import Path
from random import Random
from typing import Any

from tests.faults.fault import Fault, in_child
from tests.faults.whole import assert_goes_on, go_on, whole
from tests.training.interrupted import tiny

from reweigh.training import checkpoint
from reweigh.training.checkpoint import Checkpoints

SEED = 1
_ANYWHERE, _IN_SAVE = 130, 70
_OPERATIONS = ("packed", "pickled", "write_through", "_manifest", "sync_folder", "_remove")
_CALLS = 24  # of these in two saves and their prunings

Case = tuple[str, float]


def _cases() -> list[Case]:
    random = Random(SEED)
    timed = [("time", random.uniform(0.0, 0.6)) for _ in range(_ANYWHERE)]
    return timed + [("save", random.randrange(_CALLS) + random.random()) for _ in range(_IN_SAVE)]


def _attempt(case: Case, folder: Path) -> None:
    kind, when = case
    config = tiny("deep", "training.epochs=3")
    whole(config)
    if kind == "time":
        while in_child(lambda: go_on(config, folder / "run"), when) != -signal.SIGKILL:
            shutil.rmtree(folder / "run")  # it was over before: kill the next one earlier
            when /= 2
    else:
        assert in_child(lambda: _die_in_save(config, folder / "run", when)) == -signal.SIGKILL
    _assert_readable(folder / "run")
    assert_goes_on(config, folder / "run")
    assert not list(folder.glob("run/checkpoints/*.tmp-*"))


def _die_in_save(config: Any, folder: Path, when: float) -> None:
    """Die at operation number ⌊when⌋ of the saves; in a write, after that share of the bytes."""
    calls = iter(range(10**9))

    def deadly(name: str) -> None:
        original = getattr(checkpoint, name)

        def counted(*arguments: Any) -> Any:
            if next(calls) == int(when):
                if name == "write_through":
                    path, content = arguments
                    path.write_bytes(content[: int(len(content) * (when % 1))])
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*arguments)

        setattr(checkpoint, name, counted)

    for name in _OPERATIONS:
        deadly(name)
    go_on(config, folder)


def _assert_readable(folder: Path) -> None:
    """Every checkpoint under its own name is whole."""
    home = Checkpoints(folder / "checkpoints")
    for step in home.steps():
        home._read(step, checkpoint.torch.device("cpu"))


KILLS = Fault(f"SIGKILL at any moment ({_IN_SAVE} inside a save)", SEED, _cases(), _attempt)
