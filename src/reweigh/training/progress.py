"""How far a run is: a live bar on a terminal, a line now and then elsewhere, or nothing.

Everything goes to stderr, so that stdout carries results only.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichBars


class Progress(Protocol):
    """What a loop tells while it runs: see `stretch` for the usual way."""

    def begin(self, name: str, total: int, done: int = 0) -> None:
        """A stretch of `total` steps starts, of which an earlier process did `done`."""
        ...

    def advance(self, steps: int = 1, **figures: float) -> None:
        """Some steps are done; the latest figures, such as loss=0.31, are shown beside the rate."""
        ...

    def end(self) -> None:
        """The stretch is over."""
        ...

    def note(self, text: str) -> None:
        """A line that stays."""
        ...


@contextmanager
def stretch(progress: Progress, name: str, total: int, done: int = 0) -> Iterator[Progress]:
    """A stretch of work that is ended also when it fails."""
    progress.begin(name, total, done)
    try:
        yield progress
    finally:
        progress.end()


class SilentProgress:
    """Says nothing: for `-q`, for tests, and for all processes but the first."""

    def begin(self, name: str, total: int, done: int = 0) -> None:
        """Nothing."""

    def advance(self, steps: int = 1, **figures: float) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""


class PlainProgress:
    """A line every `every` seconds and one at the end, for logs and pipes."""

    def __init__(self, stream: TextIO, every: float = 10.0) -> None:
        self._stream, self._every = stream, every
        self._name, self._total, self._done, self._before = "", 0, 0, 0
        self._start = self._said = 0.0
        self._figures: dict[str, float] = {}

    def begin(self, name: str, total: int, done: int = 0) -> None:
        """A stretch of `total` steps starts; the rate is that of the steps done here."""
        self._name, self._total, self._figures = name, total, {}
        self._done = self._before = done
        self._start = self._said = time.monotonic()

    def advance(self, steps: int = 1, **figures: float) -> None:
        """Count; speak only when the time has come."""
        self._done += steps
        self._figures = figures or self._figures
        if time.monotonic() - self._said >= self._every:
            self._say()

    def end(self) -> None:
        """The last line of the stretch."""
        self._say()

    def note(self, text: str) -> None:
        """A line of its own."""
        print(text, file=self._stream, flush=True)

    def _say(self) -> None:
        self._said = time.monotonic()
        seconds = max(self._said - self._start, 1e-9)
        rate = (self._done - self._before) / seconds
        left = (self._total - self._done) / rate if rate else float("inf")
        when = f"{left:.0f} s left" if self._done < self._total else f"took {seconds:.1f} s"
        figures = _spelled(self._figures)
        self.note(f"{self._name}: {self._done}/{self._total}, {rate:.1f} steps/s, {when}{figures}")


class BarProgress:
    """A live bar with rate and time left, gone when its stretch ends."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars: RichBars | None = None
        self._task = TaskID(0)
        self._done = self._start = 0.0

    def begin(self, name: str, total: int, done: int = 0) -> None:
        """Show a new bar."""
        self._bars = RichBars(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[figures]}"),
            console=self._console,
            transient=True,
        )
        self._task = self._bars.add_task(name, total=total, completed=done, rate="", figures="")
        self._done, self._start = 0.0, time.monotonic()
        self._bars.start()

    def advance(self, steps: int = 1, **figures: float) -> None:
        """Move the bar; it is drawn by its own thread a few times a second."""
        if self._bars is not None:
            self._done += steps
            rate = self._done / max(time.monotonic() - self._start, 1e-9)
            shown = _spelled(figures)
            self._bars.update(self._task, advance=steps, rate=f"{rate:.1f} steps/s", figures=shown)

    def end(self) -> None:
        """Take the bar away."""
        if self._bars is not None:
            self._bars.stop()
            self._bars = None

    def note(self, text: str) -> None:
        """A line above the bar."""
        self._console.print(text, markup=False, highlight=False)


def choose_progress(quiet: bool, color: bool = True, stream: TextIO | None = None) -> Progress:
    """The progress that suits where stderr goes."""
    target: TextIO = stream or sys.stderr
    if quiet:
        return SilentProgress()
    if target.isatty():
        return BarProgress(Console(file=target, no_color=not color))
    return PlainProgress(target)


def _spelled(figures: dict[str, float]) -> str:
    return "".join(f", {name} {value:.4g}" for name, value in figures.items())
