"""`reweigh table`: the table of a comparison that is finished, or as far as it is."""

from pathlib import Path
from typing import Annotated

import typer

from reweigh.cli import options
from reweigh.cli.screen import screen


def table(
    folders: Annotated[list[Path], typer.Argument(help="Folders that `reweigh compare` filled.")],
    markdown: options.Markdown = False,
    latex: options.Latex = False,
    as_json: options.Json = False,
) -> None:
    """Show what a comparison has found so far, without running anything.

    Runs with other data, noise, students or schedules stand in tables of
    their own; runs that failed on the way or have not finished are named.

    [bold]Example[/bold]

    reweigh table runs/compare_mnist5k_0f3a9c1d --markdown
    """
    from reweigh.training.reading_tables import read_tables

    found = {folder: read_tables(folder) for folder in folders}
    if as_json:
        screen.show_json({str(f): [one.outcome() for one in tables] for f, tables in found.items()})
        return
    for folder, tables in found.items():
        for one in tables:
            if latex:
                screen.show(one.latex())
            else:
                screen.show(f"{folder.name}\n\n{one.markdown()}\n" if markdown else one.table())
