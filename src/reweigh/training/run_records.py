"""What a run's folder says of the run: how it stands, its records and its metrics."""

import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reweigh.errors import CheckpointError
from reweigh.run_files import STATUS
from reweigh.training.result import RESULT


def read_status(path: Path) -> str | None:
    """The status word of a run folder, or None where there is no run."""
    file = path / STATUS
    return str(read_record(file).get("status")) if file.is_file() else None


def is_done(path: Path) -> bool:
    """Whether the run in a folder has come to something."""
    return read_status(path) == "done" and (path / RESULT).is_file()


def read_record(file: Path) -> dict[str, Any]:
    """The JSON object in one of a run's files."""
    with _trouble_told(file):
        record = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(record, dict):
        raise CheckpointError(f"{file} holds no JSON object; was it changed?")
    return record


def read_text(file: Path) -> str:
    """One of a run's files as text."""
    with _trouble_told(file):
        return file.read_text(encoding="utf-8")


def read_toml(file: Path) -> str:
    """The text of a run's settings, if they can be read."""
    with _trouble_told(file):
        text = file.read_text(encoding="utf-8")
        tomllib.loads(text)
    return text


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """All rows of metrics.jsonl; a last line cut off by a crash is left out."""
    file = path / "metrics.jsonl"
    with _trouble_told(file):
        text = file.read_text(encoding="utf-8")
        return [json.loads(line) for line in text.split("\n")[:-1]]


@contextmanager
def _trouble_told(file: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{file} cannot be read ({error}); was it changed?") from None
