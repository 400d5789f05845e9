"""`result.json` of a finished run, read again and whole."""

from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from reweigh.errors import CheckpointError
from reweigh.training.result import RESULT, BleuResult, ErrorResult, RunResult
from reweigh.training.run_records import read_record


def kept_result(home: Path) -> dict[str, Any]:
    """What the run in `home` came to; refused where a figure is missing that every version wrote."""
    record = read_record(home / RESULT)
    lacking = min((_lacking(kind, record) for kind in (ErrorResult, BleuResult)), key=len)
    if lacking:
        raise CheckpointError(f"{home / RESULT} lacks {', '.join(lacking)}; was it changed?")
    return record


def _lacking(kind: type[RunResult], record: dict[str, Any]) -> list[str]:
    always = [f for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
    return [f.name for f in always if f.name != "folder" and f.name not in record]
