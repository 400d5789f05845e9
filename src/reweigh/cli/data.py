"""`reweigh data`: which data sets there are, fetching them, and looking at what a run would see."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reweigh.cli import options
from reweigh.cli.screen import screen
from reweigh.cli.verbs import Verbs

if TYPE_CHECKING:
    from reweigh.data.readings import Reading

_MOST_COLUMNS = 100
"""That are shown a line each. Our choice."""

data = Verbs(no_args_is_help=True, help="List, fetch and look at data sets.")

Name = Annotated[str, typer.Argument(help="A built-in name; `show` takes paths too.")]


@data.command("list")
def list_names(
    as_json: options.Json = False,
) -> None:
    """Name the built-in data sets."""
    from rich.table import Table

    from reweigh.data import names

    if as_json:
        screen.show_json(names())
        return
    table = Table(box=None, show_header=False)
    for name, description in names().items():
        table.add_row(name, description)
    screen.show(table)


@data.command()
def get(
    name: Name,
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Fetch a data set over https and check it; the only command that uses the network.

    [bold]Example[/bold]

    reweigh data get cifar10 --data-dir ~/data
    """
    from reweigh.data.fetch import get as fetch
    from reweigh.data.fetch import unpublished_digests

    with _downloads() as progress:
        folder = fetch(name, Path(data_dir) if data_dir else None, progress=progress)
    digests = unpublished_digests(name, folder)
    if as_json:
        screen.show_json({"name": name, "folder": str(folder), "unpublished_sha256": digests})
        return
    screen.show(str(folder))
    for file, digest in digests.items():
        screen.say(f"{file}: SHA-256 {digest} (nobody publishes one to compare with).")


@contextmanager
def _downloads() -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each file on stderr: bytes there of all, speed, time left."""
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True, no_color=not screen.color, quiet=screen.quiet)
    shown = (
        progress.TextColumn("{task.description}"), progress.BarColumn(), progress.DownloadColumn(),
        progress.TransferSpeedColumn(), progress.TimeRemainingColumn(),
    )  # fmt: skip
    tasks: dict[str, progress.TaskID] = {}
    with progress.Progress(*shown, console=console) as bars:

        def there(file: str, done: int, total: int) -> None:
            if file not in tasks:
                tasks[file] = bars.add_task(file, total=total or None)
            bars.update(tasks[file], completed=done)

        yield there


@data.command()
def show(
    name: Name,
    sets: options.Set = None,
    task: options.Task = None,
    data_dir: options.DataDir = None,
    noise: options.Noise = None,
    seed: options.Seed = None,
    as_json: options.Json = False,
) -> None:
    """Show what a run would see: counts per class or of pairs, with noise planted.

    Of a table also how each column is read: as a number, a date, categories, …

    [bold]Examples[/bold]

    reweigh data show mnist5k --noise flip:0.4

    reweigh data show customers.csv --set data.label_column=churned

    reweigh data show multi30k --noise mask:0.1:0.15
    """
    from reweigh.config import read_config
    from reweigh.data.catalogue import text_names
    from reweigh.data.checked_share import told
    from reweigh.data.samples import Problem
    from reweigh.text.sources import looks_like_text
    from reweigh.training.tasks import prepared

    if task is None and (name in text_names() or looks_like_text(Path(name))):
        task = "translation"
    given = options.settings(data=name, data_dir=data_dir, noise=noise, seed=seed, task=task)
    problem = prepared(read_config(None, given, sets or ()))
    if as_json:
        shown = problem.record | {"cautions": list(problem.cautions)}
        if isinstance(problem, Problem):
            shown["columns"] = [asdict(reading) for reading in problem.readings]
        screen.show_json(shown)
        return
    if isinstance(problem, Problem):
        screen.show(_table(problem.record, problem.class_names))
        for line in filter(None, (*_lines(problem.readings), told(problem.record["checked"]))):
            screen.show(line)
    else:
        screen.show(_text_table(problem.record))
    for word in problem.cautions:
        screen.say(f"Caution: {word}.")


def _lines(readings: "Sequence[Reading]") -> Iterator[str]:
    """How each column of a table is read."""
    width = max((len(reading.name) for reading in readings[:_MOST_COLUMNS]), default=0)
    for reading in readings[:_MOST_COLUMNS]:
        yield f"  {reading.name:{width}}  {reading}"
    if len(readings) > _MOST_COLUMNS:
        yield f"  … and {len(readings) - _MOST_COLUMNS} more columns (--json has all)"


def _text_table(record: dict[str, Any]) -> Any:
    """Pairs and tokens of each part."""
    from rich.markup import escape
    from rich.table import Table

    changed = f" ({record['changed']:.1%} of the pairs changed)" if record["changed"] else ""
    title = f"{record['data']}: {record['source']} to {record['target']}, "
    title += f"noise {record['noise']}{changed}, {record['vocabulary']:,} pieces"
    table = Table("part", "pairs", "source tokens", "target tokens", title=escape(title))
    left_out = {why: n for why, n in record["dropped"].items() if n}
    table.caption = ", ".join(f"{n:,} {why.replace('_', ' ')}" for why, n in left_out.items())
    table.caption = f"training pairs left out: {table.caption or 'none'}"
    for part, count in record["counts"].items():
        table.add_row(part, f"{count:,}", *(f"{tokens:,}" for tokens in record["tokens"][part]))
    return table


def _table(record: dict[str, Any], class_names: tuple[str, ...]) -> Any:
    """Samples per class in each part, the totals last."""
    from rich.markup import escape
    from rich.table import Table

    parts = list(record["counts"])
    noise = record["noise"]
    changed = f" ({noise['changed']:.1%} of the labels changed)" if "changed" in noise else ""
    title = escape(f"{record['data']}: {record['kind']} data, noise {noise['spec']}{changed}")
    table = Table("class", *parts, title=title)
    for k, class_name in enumerate(class_names):
        table.add_row(escape(class_name), *(f"{record['per_class'][part][k]:,}" for part in parts))
    table.add_section()
    table.add_row("all", *(f"{record['counts'][part]:,}" for part in parts))
    return table
