"""`reweigh compare`: many methods on the same data, schedule and seeds, in one table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reweigh.cli import options
from reweigh.cli.screen import screen

if TYPE_CHECKING:
    from reweigh.comparing.one_run import Named


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
            help="Rows of the table, separated by commas: of the lineup, of CONFIG, or module:Class; "
            "all: the lineup's and CONFIG's that can be run on these data.",
            rich_help_panel="What to learn",
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
    out: options.TableOut = None,
    print_config: options.PrintConfig = False,
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Compare methods fairly: same data, trusted set, schedule and seeds for all.

    Shown are the last epoch and the one best by the trusted set, mean ± std
    over seeds, the cost in units of plain training, and how well the weights
    find planted noise. Finished runs are skipped: the same command takes up
    a table that was stopped. A run that fails is listed and stops no other.

    Every row has settings of its own: \\[method] in CONFIG is not used. Other
    ones are rows as well: \\[rows.NAME] in CONFIG (or --set rows.NAME.KEY=…)
    with like = a row to start from, or name = a method, and what to change.
    --print-config shows the settings of all rows.

    [bold]Examples[/bold]

    reweigh compare --noise flip:0.4 --methods uniform,deep-linear

    reweigh compare --data fashion-mnist --noise uniform:0.6 --epochs 20

    reweigh compare base.toml --seeds 5 --json > rows.json

    reweigh compare --set rows.K2.like=deep --set rows.K2.every=2 --methods deep,K2

    reweigh compare tune.toml --pretrain train.toml --noise mask:0.1:0.15
    """
    from reweigh.config import read_config, run_id
    from reweigh.config.comparison import read_comparison
    from reweigh.config.lineup import tuned
    from reweigh.errors import ReweighError

    given = options.settings(
        task=task, data=data, data_dir=data_dir, noise=noise, epochs=epochs,
        device=device, threads=threads,
    )  # fmt: skip
    asked = read_comparison(config, given, sets or (), methods)
    if asked.unused_method:
        screen.say(
            f"[method] of {config} is not used: rows have settings of their own ([rows.NAME])."
        )
    if asked.left_out:
        screen.say(
            f"Without {', '.join(asked.left_out)}, which need true labels: they are known where noise "
            "is planted (--noise), or by data.true_labels."
        )
    if print_config:
        screen.show_json(asked.plain()) if as_json else screen.show(asked.explained())
        return

    from reweigh.methods.own import check_own

    for row in asked.rows.values():
        check_own(row)
    runs, base = asked.runs(seeds), asked.base
    if pretrain is not None:
        given.pop("training.epochs", None)  # those of the fine-tuning
        runs = tuned(runs, read_config(pretrain, given))
    folder = out or Path("runs") / f"compare_{Path(base.data.name).stem}_{run_id(base)[:8]}"
    if dry_run:
        _rehearse(runs, folder, as_json)
        return

    from reweigh.comparing.compare import compare as run_all
    from reweigh.training.progress import choose_progress

    screen.folder = folder
    progress = choose_progress(screen.quiet, screen.color)
    result = run_all(runs, screen.folder, progress, jobs, cluster)
    screen.show_json(result.outcome()) if as_json else screen.show(result.table())
    if result.failures:
        screen.complain(f"{len(result.failures)} of {len(runs)} runs failed; the others are done.")
        raise typer.Exit(ReweighError.exit_code)


def _rehearse(runs: "list[Named]", folder: Path, as_json: bool) -> None:
    """Build every row; the exit code says whether all of them could be."""
    from reweigh.comparing.planning import plan
    from reweigh.errors import ReweighError

    found = plan(runs, folder)
    screen.show_json(found.outcome()) if as_json else screen.show(found.table())
    if not found.possible:
        screen.complain("Some rows cannot be run like this.")
        raise typer.Exit(ReweighError.exit_code)
