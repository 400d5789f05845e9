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
    as_csv: options.Csv = False,
    as_json: options.Json = False,
) -> None:
    """Show what a comparison has found so far, without running anything.

    Runs with other data, noise, students or schedules stand in tables of
    their own; runs that failed on the way or have not finished are named.
    --latex needs booktabs; cautions stand as comments above its table. --csv
    has all tables as one, told apart by its columns terms and folder, and of
    translators the BLEU of their first test set.

    [bold]Examples[/bold]

    reweigh table runs/compare_mnist5k_0f3a9c1d --markdown

    reweigh table runs/compare_* --csv > tables.csv
    """
    options.one_form(markdown=markdown, latex=latex, csv=as_csv, json=as_json)

    from reweigh.comparing.reading_tables import read_tables
    from reweigh.comparing.written_tables import comma_separated

    found = {folder: read_tables(folder) for folder in folders}
    every = [one for tables in found.values() for one in tables]
    if as_json:
        screen.show_json({str(f): [one.outcome() for one in tables] for f, tables in found.items()})
    elif as_csv:
        screen.show(comma_separated([line for one in every for line in one.figures()]))
    elif latex:
        screen.show("\n\n".join(one.latex() for one in every))
    else:
        for one in every:
            screen.show(f"{one.folder.name}\n\n{one.markdown()}\n" if markdown else one.table())
