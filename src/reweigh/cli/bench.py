"""`reweigh bench`: measurements that anybody can repeat."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reweigh.cli import options
from reweigh.cli.screen import screen
from reweigh.cli.verbs import Verbs
from reweigh.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

Models = Annotated[str, typer.Option(help="Student models, separated by commas.")]
Rounds = Annotated[int, typer.Option(min=1, help="Repetitions; the median counts.")]

bench = Verbs(no_args_is_help=True, help="Measure speed and memory on this machine.")


@bench.command()
def weight_store(
    sizes: Annotated[
        str, typer.Option(help="Numbers of samples, separated by commas.")
    ] = "100000,1000000,10000000",
    as_json: options.Json = False,
) -> None:
    """What it costs to keep the weight of every sample in every epoch.

    Two epochs in batches of 128, each size in a process of its own.
    """
    from reweigh.bench.weight_store import measure, table

    rows = measure(_counts("--sizes", sizes, "100000,1000000"))
    _show(rows, table, as_json)


@bench.command()
def metagrad(
    models: Models = "resnet8,resnet32,wrn-28-10,transformer",
    through: Annotated[
        str, typer.Option(help="Steps that an update goes back over, separated by commas.")
    ] = "1,2,5,20",
    systems: Annotated[
        str | None, typer.Option(help="Systems, separated by commas.", show_default="all")
    ] = None,
    rounds: Rounds = 5,
    as_json: options.Json = False,
) -> None:
    """What one teacher update costs beyond the student's own steps.

    In units of a plain SGD step (process CPU time, one thread, medians, all
    systems in turns), with the peak memory over plain training. Peers come
    with [bold]pip install reweigh\\[bench][/bold].

    [bold]Example[/bold]

    reweigh bench metagrad --models resnet32 --through 1,2
    """
    steps = _counts("--through", through, "1,2,5")
    from reweigh.bench.lineup import SYSTEMS
    from reweigh.bench.metagrad import measure, table

    wanted = _names("--systems", systems, tuple(SYSTEMS))
    rows = list(measure(_split(models), steps, wanted, rounds, screen.say))
    _show(rows, table, as_json)


@bench.command()
def step(
    models: Models = "resnet32",
    rounds: Rounds = 5,
    bf16: Annotated[
        bool, typer.Option("--bf16", help="Both loops under bfloat16 autocast.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """What training through Reweigher costs, in that of a hand-written loop.

    With uniform weights, with a teacher that learns every 20 steps through the
    last 2, and with the default one, which looks through an average of the
    student; steps of both loops take turns (process CPU time, one thread).
    Beside them what reading and augmenting a batch of images costs alone.
    """
    from reweigh.bench.step import measure, table

    rows = list(measure(_split(models), rounds, bf16=bf16))
    _show(rows, table, as_json)


@bench.command()
def audit(
    data: Annotated[str, typer.Option(help="Data sets, separated by commas.")] = "mnist5k",
    noise: Annotated[
        str, typer.Option(help="Planted noises, separated by commas.")
    ] = "flip:0.2,flip:0.4,uniform:0.4,uniform:0.6",
    ways: Annotated[
        str | None, typer.Option(help="Ways to find it, separated by commas.", show_default="all")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Cells per setting.")] = 3,
    sets: options.Set = None,
    out: Annotated[
        Path, typer.Option(help="Folder of small results; those there are kept.")
    ] = Path("results/audit"),
    work: Annotated[Path, typer.Option(help="Folder of the runs behind them.")] = Path(
        "runs/bench-audit"
    ),
    stored: Annotated[
        bool, typer.Option("--stored", help="Show what is stored; compute nothing.")
    ] = False,
    markdown: options.Markdown = False,
    as_json: options.Json = False,
) -> None:
    """How well planted wrong labels are found, and at what cost.

    The audit beside cleanlab (5-fold probabilities of the same student and
    schedule, without and with the trusted samples), the loss of plain training,
    and Meta-Weight-Net's weights: AUROC, average precision, F1. What was found
    before is not computed again. cleanlab comes with
    [bold]pip install reweigh\\[bench][/bold].

    [bold]Examples[/bold]

    reweigh bench audit --data digits --noise flip:0.4 --seeds 1

    reweigh bench audit --stored --markdown
    """
    options.one_form(markdown=markdown, json=as_json)
    from reweigh.bench import audit as bench_audit
    from reweigh.bench.audit_table import markdown as as_markdown
    from reweigh.bench.audit_table import read_cells, tables

    wanted = _names("--ways", ways, tuple(bench_audit.WAYS))
    if not stored:
        for cell in bench_audit.cells(_split(data), _split(noise), seeds, sets or ()):
            screen.say(cell.name)
            bench_audit.measure(cell, wanted, out, work)
    found = read_cells(out)
    if as_json:
        screen.show_json({"cells": found})
    elif markdown:
        screen.show(as_markdown(found))
    else:
        for table in tables(found):
            screen.show(table)


@bench.command()
def translation(
    models: Annotated[
        str, typer.Option(help="Sizes of the Transformer, separated by commas.")
    ] = "transformer-small",
    rounds: Rounds = 3,
    as_json: options.Json = False,
) -> None:
    """What training a translator costs, in that of a hand-written loop.

    With uniform weights, and with a teacher that learns every 20 steps through
    the last 2; steps of all loops take turns (process CPU time, one thread).
    """
    from reweigh.bench.translation import measure, table
    from reweigh.models.transformer import PRESETS

    rows = list(measure(_names("--models", models, tuple(PRESETS)), rounds))
    _show(rows, table, as_json)


@bench.command()
def decode(
    models: Annotated[
        str, typer.Option(help="Sizes of the Transformer, separated by commas.")
    ] = "transformer-small",
    words: Annotated[str, typer.Option(help="Lengths, separated by commas.")] = "25,50",
    rounds: Rounds = 3,
    as_json: options.Json = False,
) -> None:
    """How much faster beam search is with cached keys and values."""
    lengths = _counts("--words", words, "25,50")
    from reweigh.bench.decode import measure, table
    from reweigh.models.transformer import PRESETS

    rows = list(measure(_names("--models", models, tuple(PRESETS)), lengths, rounds))
    _show(rows, table, as_json)


@bench.command()
def distributed(
    models: Models = "resnet8",
    processes: Annotated[int, typer.Option(min=2, help="Processes of the run.")] = 2,
    rounds: Rounds = 5,
    as_json: options.Json = False,
) -> None:
    """How much faster one run is in several processes, and what it sends.

    Rounds of 20 steps with one update of the teacher, alone and together in
    turns, one thread per process.
    """
    from reweigh.bench.distributed import measure, table

    rows = measure(_split(models), processes, rounds)
    _show(rows, table, as_json)


def _show(rows: list[Any], table: "Callable[[Any], Table]", as_json: bool) -> None:
    """Rows for programs, or their table for people."""
    screen.show_json({"rows": rows}) if as_json else screen.show(table(rows))


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def _counts(option: str, text: str, example: str) -> tuple[int, ...]:
    """Positive whole numbers, separated by commas."""
    if not all(part.isdecimal() and int(part) > 0 for part in _split(text)):
        raise UsageError(f"{option} {text!r} should be whole numbers, as in {example}.")
    return tuple(int(part) for part in _split(text))


def _names(option: str, text: str | None, known: tuple[str, ...]) -> tuple[str, ...]:
    """Some of the known names; all of them if nothing was said."""
    chosen = known if text is None else _split(text)
    strange = [name for name in chosen if name not in known]
    if strange:
        raise UsageError(f"{option} {strange[0]!r} is not one of {', '.join(known)}.")
    return chosen
