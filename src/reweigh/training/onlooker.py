"""A run's folder as the processes see it that do not write."""

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from reweigh.training.run_folder import RunFolder, Status


class Onlooker(RunFolder):
    """Knows where the folder is, and leaves it to the first process."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def metrics(self, row: Mapping[str, Any]) -> None:
        """Nothing."""

    def metrics_length(self) -> int:
        """Nobody asks."""
        return 0

    def rewind_metrics(self, length: int) -> None:
        """Nothing."""

    def log(self, text: str) -> None:
        """Nothing."""

    def status(self, word: Status, reason: str = "") -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing."""
