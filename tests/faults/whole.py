"""What a run in one piece leaves: made once for each settings."""

import functools
import tempfile
from pathlib import Path
from typing import Any

from tests.faults.fault import in_child
from tests.training.interrupted import assert_same, everything

from reweigh.config import RunConfig, run_id
from reweigh.training.progress import SilentProgress
from reweigh.training.run import begin_or_go_on


@functools.cache
def _home() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="whole-")


def go_on(config: RunConfig, folder: Path) -> None:
    """Begin the run, or continue it."""
    begin_or_go_on(config, folder, SilentProgress(), ("reweigh",), False)


def whole(config: RunConfig) -> dict[str, Any]:
    """The run that nothing happened to, in this process: children inherit what it loaded."""
    folder = Path(_home().name) / run_id(config)
    if not (folder / "result.json").is_file():
        go_on(config, folder)
    return everything(folder)


def assert_goes_on(config: RunConfig, folder: Path) -> None:
    """The run in `folder` can be continued, and to the bits of the whole one."""
    assert in_child(lambda: go_on(config, folder)) == 0, "the run could not be continued"
    assert_same(whole(config), everything(folder))
