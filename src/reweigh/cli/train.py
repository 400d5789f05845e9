"""`reweigh train`: one run, from settings to a run folder."""

import sys
from dataclasses import asdict
from typing import Annotated

import typer

from reweigh.cli import options
from reweigh.cli.screen import screen
from reweigh.errors import UsageError


def train(
    config: options.ConfigFile = None,
    sets: options.Set = None,
    task: options.Task = None,
    data: options.Data = None,
    data_dir: options.DataDir = None,
    noise: options.Noise = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="Who weighs the samples: uniform, deep, meta-weight-net, …, or your module:Class.",
            rich_help_panel="What to learn",
        ),
    ] = None,
    epochs: options.Epochs = None,
    seed: options.Seed = None,
    device: options.Device = None,
    threads: options.Threads = None,
    out: options.Out = None,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="auto",
            help="auto: go on with a run of these settings, or begin it.",
            rich_help_panel="Where and how",
        ),
    ] = None,
    allow_drift: options.AllowDrift = False,
    print_config: options.PrintConfig = False,
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Train one model with one method, into a run folder that explains itself.

    Settings come from CONFIG.toml, then from options, then from --set; the
    last wins.

    [bold]Examples[/bold]

    reweigh train --data mnist5k --noise flip:0.4

    reweigh train --method meta-weight-net --set method.teacher_lr=1e-4 --seed 1

    reweigh train --data photos/ --set data.trusted=checked.txt --out runs/photos

    reweigh train --print-config > mine.toml; reweigh train mine.toml

    reweigh train --task translation --data multi30k --method uniform
    """
    from reweigh.config import explain, read_config
    from reweigh.config.writing import plain_values

    if resume not in (None, "auto"):
        raise UsageError(
            f"--resume {resume}: expected auto; to name a run: reweigh resume {resume}"
        )
    if allow_drift and resume is None:
        raise UsageError("--allow-drift is for a run that goes on: add --resume auto.")
    if dry_run and resume is not None:
        raise UsageError("--dry-run checks a run that would begin anew: leave out --resume.")
    given = options.settings(
        task=task, data=data, data_dir=data_dir, noise=noise, epochs=epochs, seed=seed,
        method=None if method is None else {"name": method}, device=device, threads=threads,
    )  # fmt: skip
    settings = read_config(config, given, sets or ())
    if print_config:
        screen.show_json(plain_values(settings)) if as_json else screen.show(explain(settings))
        return

    from reweigh.training import run
    from reweigh.training.progress import choose_progress
    from reweigh.training.rehearsal import rehearse
    from reweigh.training.run_folder import default_folder, folder_of

    progress = choose_progress(screen.quiet or not screen.speaks, screen.color)
    if dry_run:
        result = rehearse(settings)
    elif resume is not None:
        screen.folder = out or folder_of(settings) or default_folder(settings)
        result = run.begin_or_go_on(settings, screen.folder, progress, sys.argv, allow_drift)
    else:
        screen.folder = out or default_folder(settings)
        result = run.train(settings, screen.folder, progress, command=sys.argv)
    screen.show_json(asdict(result)) if as_json else screen.show(result.table())
