"""`reweigh compare`: many methods on the same data, schedule and seeds, in one table."""

from pathlib import Path
from typing import Annotated

import typer

from reweigh.cli import options
from reweigh.cli.screen import screen


def compare(
    config: options.ConfigFile = None,
    sets: options.Set = None,
    task: options.Task = None,
    data: options.Data = None,
    data_dir: options.DataDir = None,
    noise: options.Noise = None,
    methods: Annotated[
        str,
        typer.Option(
            help="Rows of the table, separated by commas, or all.", rich_help_panel="What to learn"
        ),
    ] = "all",
    seeds: Annotated[
        int, typer.Option(min=1, help="Runs per method.", rich_help_panel="What to learn")
    ] = 3,
    epochs: options.Epochs = None,
    pretrain: Annotated[
        Path | None,
        typer.Option(
            metavar="CONFIG.toml",
            help="Translation: settings of a run whose student all rows begin from.",
            rich_help_panel="What to learn",
        ),
    ] = None,
    jobs: options.Jobs = 1,
    cluster: options.Cluster = None,
    device: options.Device = None,
    threads: options.Threads = None,
    out: options.Out = None,
    print_config: options.PrintConfig = False,
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    no_color: options.NoColor = False,
    debug: options.Debug = False,
) -> None:
    """Compare methods fairly: same data, trusted set, schedule and seeds for all.

    Shown are the last epoch and the one best by the trusted set, mean ± std
    over seeds, the cost in units of plain training, and how well the weights
    find planted noise. Finished runs are skipped: the same command takes up
    a table that was stopped. A run that fails is listed and stops no other.
    Methods have settings of their own: a \\[method] table in CONFIG is not used.

    [bold]Examples[/bold]

    reweigh compare --noise flip:0.4 --methods uniform,deep-linear

    reweigh compare --data fashion-mnist --noise uniform:0.6 --epochs 20

    reweigh compare base.toml --seeds 5 --json > rows.json

    reweigh compare tune.toml --pretrain train.toml --noise mask:0.1:0.15
    """
    from reweigh.config import explain, read_config, run_id
    from reweigh.config.lineup import choose, tuned
    from reweigh.errors import UsageError

    given = options.settings(
        task=task, data=data, data_dir=data_dir, noise=noise, epochs=epochs,
        device=device, threads=threads,
    )  # fmt: skip
    if any(one.startswith("method.") for one in sets or ()):
        raise UsageError(
            "compare takes its methods from --methods, with settings of their own; for other settings "
            "of one method use reweigh train --set method.…"
        )
    base = read_config(config, given, sets or ())
    rows = choose(methods, base.task)
    if print_config:
        screen.show(explain(base))
        return
    runs = [
        (name, base.model_copy(update={"method": method, "seed": base.seed + i}))
        for name, method in rows.items()
        for i in range(seeds)
    ]
    if pretrain is not None:
        given.pop("training.epochs", None)  # those of the fine-tuning
        runs = tuned(runs, read_config(pretrain, given))
    if dry_run:
        plan = [{"method": n, "seed": c.seed, "run_id": run_id(c)} for n, c in runs]
        lines = [f"{p['method']}, seed {p['seed']}, id {p['run_id']}" for p in plan]
        screen.show_json({"runs": plan}) if as_json else screen.show("\n".join(lines))
        return

    from reweigh.training.compare import compare as run_all
    from reweigh.training.progress import choose_progress

    screen.folder = out or Path("runs") / f"compare_{Path(base.data.name).stem}_{run_id(base)[:8]}"
    progress = choose_progress(screen.quiet, screen.color)
    result = run_all(runs, screen.folder, progress, jobs, cluster)
    screen.show_json(result.outcome()) if as_json else screen.show(result.table())
