import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from tests.training.toy_text import toy, write_toy

from reweigh.training.progress import SilentProgress
from reweigh.training.run import train


@pytest.fixture(scope="session")
def toy_text(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The toy language, prepared in a cache of the tests' own."""
    torch.set_num_threads(1)
    place = tmp_path_factory.mktemp("toy")
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(place / "cache")
    yield write_toy(place / "text")
    del os.environ["XDG_CACHE_HOME"]
    if before is not None:
        os.environ["XDG_CACHE_HOME"] = before


@pytest.fixture(scope="session")
def toy_run(toy_text: Path) -> Path:
    """A finished run that has learned it."""
    folder = toy_text.parent / "pretrained"
    train(toy(toy_text, "training.epochs=12"), folder, SilentProgress())
    return folder
