"""`reweigh resume`: continue a run that was interrupted."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from reweigh.cli import options
from reweigh.cli.screen import screen


def resume(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.")],
    threads: options.Threads = None,
    allow_drift: options.AllowDrift = False,
    as_json: options.Json = False,
) -> None:
    """Continue a run from its last good checkpoint, to the same bits as if it had never stopped.

    Settings are those of the run. Under another thread count or torch
    version the last bits would differ, so that is refused unless allowed.
    A run that is done is only shown.

    [bold]Examples[/bold]

    reweigh resume runs/photos

    reweigh resume runs/photos --threads 4 --allow-drift
    """
    from reweigh.training.progress import choose_progress
    from reweigh.training.run import resume as go_on

    screen.folder = run
    progress = choose_progress(screen.quiet or not screen.speaks, screen.color)
    result = go_on(run, progress, threads=threads, allow_drift=allow_drift)
    screen.show_json(asdict(result)) if as_json else screen.show(result.table())
