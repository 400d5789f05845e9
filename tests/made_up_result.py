"""`result.json` of a run that was never made."""

import json
from pathlib import Path

from reweigh.training.result import RESULT, ErrorResult

ANY = ErrorResult(
    "x", 0, "0123abcd", "", 0, None, steps=1, train_seconds=2.0, parameters=1, test_error_last=0.1,
    test_error_best_by_trusted=0.2, trusted_error_last=0.3,
)  # fmt: skip


def put_result(home: Path, **known: object) -> None:
    """Into a run's folder; what is not `known` is anything."""
    (home / RESULT).write_text(json.dumps(ANY.kept() | known))
