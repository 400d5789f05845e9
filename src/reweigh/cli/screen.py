"""What the user sees: results on stdout, everything else on stderr."""

import json
import os
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any


@dataclass
class Screen:
    """How to speak in this call, as the options `-q`, `--no-color` and `--debug` said."""

    quiet: bool = False
    color: bool = True
    debug: bool = False
    folder: Path | None = None
    """The run folder, once there is one: unexpected errors are written there."""

    @property
    def speaks(self) -> bool:
        """Of the processes that a launcher (torchrun) started for one run, the first one speaks."""
        return os.environ.get("RANK", "0") == "0" or os.environ.get("WORLD_SIZE", "1") == "1"

    def say(self, text: str) -> None:
        """A remark, on stderr, unless quiet."""
        if self.speaks and not self.quiet:
            print(text, file=sys.stderr)

    def complain(self, text: str) -> None:
        """An error, on stderr, always, and from every process: it may have met it alone."""
        who = "reweigh" if self.speaks else f"reweigh, process {os.environ['RANK']}"
        print(f"{who}: {text}", file=sys.stderr)

    def show(self, result: Any) -> None:
        """A result for people, on stdout: text as it is, tables by rich."""
        from rich.console import Console

        if not self.speaks:
            return
        if isinstance(result, str):
            print(result)
        else:
            Console(no_color=not self.color).print(result)

    def show_json(self, result: Any) -> None:
        """A result for programs: one JSON object on stdout."""
        if self.speaks:
            print(json.dumps(result, allow_nan=False))


screen = Screen()


def report_unexpected(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """The hook for errors that nobody foresaw: one sentence, and the traceback in a file."""
    text = "".join(traceback.format_exception(kind, error, trace))
    if screen.debug:
        sys.stderr.write(text)
        return
    home = screen.folder if screen.folder and screen.folder.is_dir() else Path()
    log = home / "error.log"
    try:
        with log.open("a", encoding="utf-8") as file:  # of the working folder, it may be somebody's
            file.write(text)
    except OSError:
        sys.stderr.write(text)
        return
    summary = str(error).partition("\n")[0]
    screen.complain(f"unexpected {kind.__name__}: {summary}. The traceback is in {log}.")
