"""`reweigh report`: what runs came to, as a page to look at and to send."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from reweigh.cli import options
from reweigh.cli.screen import screen


class Format(StrEnum):
    """File formats of figures for papers."""

    svg = "svg"
    pdf = "pdf"


class States(StrEnum):
    """How internal states are laid out on a plane."""

    pca = "pca"
    t_sne = "t-sne"


def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Folders of runs, or of a comparison.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder to write.", show_default="report in the first RUN")
    ] = None,
    figures: Annotated[
        Format | None, typer.Option(help="Also write the figures for a paper.")
    ] = None,
    states: Annotated[
        States, typer.Option(help="How internal states are laid out on a plane.")
    ] = States.pca,
    as_json: options.Json = False,
) -> None:
    """Write a page that shows what runs came to; it opens by double click, without network.

    The answer first, then learning curves, weights, internal states, which
    class is taken for which, the most suspicious samples with given and
    suggested label, and all that is needed to do it again. Where some RUNs
    weigh by internal states and others by the loss, two are shown side by side.

    Errors compare where student and schedule are the same: other RUNs stand in
    the table under a caution and not in the headline. What failed, is not
    finished or repeats another RUN is named.

    [bold]Examples[/bold]

    reweigh report runs/photos

    reweigh report runs/compare_mnist5k --out to-send --figures pdf --states t-sne
    """
    from reweigh import signals

    folder = out or runs[0] / "report"
    with signals.listening():  # from here on: imports alone take seconds
        from reweigh.report.contents import read_report
        from reweigh.report.doubts import cautions
        from reweigh.report.write import write_report

        found = read_report(runs, states.value)
        page = write_report(found, folder)
        written = [page]
        if figures is not None:
            from reweigh.report.figures import write_figures

            written += write_figures(found, folder / "figures", figures.value)
    told = cautions(found)
    for words in told:
        screen.say(f"Caution: {words}.")
    if as_json:
        files = [str(path) for path in written]
        screen.show_json({"page": str(page), "files": files, "cautions": list(told)})
    else:
        screen.show(f"The report is at {page}")
