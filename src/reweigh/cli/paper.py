"""`reweigh paper`: the paper's tables, with our numbers beside the published ones."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reweigh.cli import options
from reweigh.cli.screen import screen
from reweigh.cli.verbs import Verbs

if TYPE_CHECKING:
    from reweigh.paper.cell import Recipe
    from reweigh.paper.plan import Place
    from reweigh.paper.result import Result

paper = Verbs(no_args_is_help=True, help="The paper's tables and figures as commands.")


class ScaleName(StrEnum):
    """How large a recipe is run."""

    tiny = "tiny"
    cpu = "cpu"
    full = "full"


Name = Annotated[str, typer.Argument(help="A recipe of `reweigh paper list`.")]
Scale = Annotated[
    ScaleName,
    typer.Option(help="tiny: minutes, embedded data; cpu: hours, CIFAR; full: as the paper."),
]
Seeds = Annotated[
    int | None, typer.Option(min=1, help="Runs per cell.", show_default="3, at tiny 1")
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="This row, or this column by its name here or in the paper; may be given again.",
    ),
]
Out = Annotated[
    Path | None, typer.Option(help="Folder of the runs.", show_default="runs/paper-SCALE")
]


@paper.command("list")
def list_recipes(
    as_json: options.Json = False,
) -> None:
    """Name the recipes."""
    from rich.table import Table

    from reweigh.paper.catalogue import RECIPES

    if as_json:
        screen.show_json({r.name: f"{r.place}: {r.title}" for r in RECIPES.values()})
        return
    table = Table(box=None, show_header=False)
    for recipe in RECIPES.values():
        table.add_row(recipe.name, recipe.place, recipe.title)
    screen.show(table)


@paper.command()
def show(
    name: Name,
    scale: Scale = ScaleName.full,
    seeds: Seeds = None,
    only: Only = None,
    out: Out = None,
    markdown: options.Markdown = False,
    latex: options.Latex = False,
    as_json: options.Json = False,
) -> None:
    """Show what was published, what we chose where the paper is silent, and what is done so far.

    [bold]Examples[/bold]

    reweigh paper show flip

    reweigh paper show flip --scale cpu --out runs/paper-cpu --markdown

    reweigh paper show flip --only "CIFAR-10, 40% flip"
    """
    options.one_form(markdown=markdown, latex=latex, json=as_json)
    from reweigh.paper.catalogue import find
    from reweigh.paper.result import read_result
    from reweigh.paper.run import chosen, scale_of

    recipe = find(name)
    place = _place(scale, out)
    scale_of(place.folder, scale.value)
    cells = chosen(recipe.cells(scale.value), only or [])
    _present(
        read_result(recipe, scale.value, cells, place, _seeds(scale, seeds), {}),
        markdown=markdown,
        latex=latex,
        as_json=as_json,
    )
    if not (markdown or latex or as_json):
        screen.show("\nOur choices where the paper is silent:")
        screen.show("\n".join(f"- {choice}" for choice in recipe.choices))


@paper.command()
def run(
    name: Name,
    scale: Scale,
    seeds: Seeds = None,
    only: Only = None,
    jobs: options.Jobs = 1,
    cluster: options.Cluster = None,
    data_dir: options.DataDir = None,
    device: options.Device = None,
    threads: options.Threads = None,
    out: Out = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Name the runs that are not done yet, write nothing.")
    ] = False,
    markdown: options.Markdown = False,
    latex: options.Latex = False,
    as_json: options.Json = False,
) -> None:
    """Run a table of the paper and print it with the published values.

    Columns are named by what is trained: at cpu "CIFAR-10 10k, ResNet-8,
    40% flip" stands in the place of the paper's "CIFAR-10, 40% flip".

    Finished runs are skipped: the same command takes up a table that was
    stopped. Tables of one scale share their folder, and the runs that they
    have in common. A run that fails is listed and stops no other.

    [bold]Examples[/bold]

    reweigh paper run features --scale tiny

    reweigh paper run flip --scale cpu --only "CIFAR-10, 40% flip" --jobs 2

    reweigh paper run flip --scale tiny --only "digits, ResNet-8, 40% flip" --only GLC

    reweigh paper run table1 --scale full --cluster ray
    """
    options.one_form(markdown=markdown, latex=latex, json=as_json)
    from reweigh.paper.catalogue import find

    recipe = find(name)
    place = _place(scale, out, data_dir, device, threads)
    count = _seeds(scale, seeds)
    if dry_run:
        _plan(recipe, scale, place, count, only or [], as_json)
        return

    from reweigh.errors import ReweighError
    from reweigh.paper.run import run as run_recipe
    from reweigh.training.progress import choose_progress

    screen.folder = place.folder
    progress = choose_progress(screen.quiet, screen.color)
    result = run_recipe(
        recipe, scale.value, place, progress,
        seeds=count, jobs=jobs, cluster=cluster, only=only or (),
    )  # fmt: skip
    _present(result, markdown=markdown, latex=latex, as_json=as_json)
    if recipe.figure:
        _draw(recipe, scale, place, only or [])
    if result.failures:
        screen.complain(f"{len(result.failures)} runs failed; the others are done.")
        raise typer.Exit(ReweighError.exit_code)


def _place(
    scale: ScaleName,
    out: Path | None,
    data_dir: str | None = None,
    device: str | None = None,
    threads: int | None = None,
) -> "Place":
    from reweigh.paper.plan import Place

    return Place(out or Path("runs") / f"paper-{scale.value}", data_dir, device, threads)


def _seeds(scale: ScaleName, seeds: int | None) -> int:
    from reweigh.paper.scales import SEEDS

    return seeds or SEEDS[scale.value]


def _plan(
    recipe: "Recipe", scale: ScaleName, place: "Place", seeds: int, only: list[str], as_json: bool
) -> None:
    """What a run would do."""
    from reweigh.paper.plan import waves
    from reweigh.paper.run import chosen, scale_of
    from reweigh.training.run_records import is_done

    scale_of(place.folder, scale.value)
    cells = chosen(recipe.cells(scale.value), only)
    homes = [place.home(*run) for wave in waves(cells, seeds, place) for run in wave]
    left = [home.name for home in homes if not is_done(home)]
    if as_json:
        screen.show_json({"runs": left})
    else:
        screen.show("\n".join(left))
        screen.say(f"{len(left)} of {len(homes)} runs are to be done.")


def _present(result: "Result", *, markdown: bool, latex: bool, as_json: bool) -> None:
    if as_json:
        screen.show_json(result.outcome())
    elif markdown or latex:
        screen.show(result.markdown() if markdown else result.latex())
    else:
        screen.show(result.table())


def _draw(recipe: "Recipe", scale: ScaleName, place: "Place", only: list[str]) -> None:
    """The report page of the figure's runs that are done, or what it needs."""
    from reweigh.paper.run import chosen, homes
    from reweigh.report.contents import read_report
    from reweigh.report.write import missing_packages, write_report
    from reweigh.training.run_records import is_done

    if (missing := missing_packages()) is not None:
        screen.say(missing)
        return
    cells = chosen(recipe.cells(scale.value), only)
    runs = [home for home in homes(cells, 0, place) if is_done(home)]
    if not runs:
        return
    page = write_report(read_report(runs), place.folder / f"report-{recipe.name}")
    screen.say(f"The figure is at {page}")
