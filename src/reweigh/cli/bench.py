"""`reweigh bench`: measurements that anybody can repeat."""

from typing import Annotated

import typer

from reweigh.cli import options
from reweigh.cli.screen import screen

bench = typer.Typer(no_args_is_help=True, help="Measure speed and memory on this machine.")


@bench.callback()
def _group() -> None:
    """Measure speed and memory on this machine."""


@bench.command()
def weight_store(
    sizes: Annotated[
        str, typer.Option(help="Numbers of samples, separated by commas.")
    ] = "100000,1000000,10000000",
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    no_color: options.NoColor = False,
    debug: options.Debug = False,
) -> None:
    """What it costs to keep the weight of every sample in every epoch.

    Two epochs in batches of 128 and the mean over both, each size in a process of its own.
    """
    from reweigh.bench.weight_store import measure, table
    from reweigh.errors import UsageError

    if not all(size.strip().isdecimal() and int(size) > 0 for size in sizes.split(",")):
        raise UsageError(f"--sizes {sizes!r} should be whole numbers, as in 100000,1000000.")
    rows = measure(tuple(int(size) for size in sizes.split(",")))
    screen.show_json({"rows": rows}) if as_json else screen.show(table(rows))
