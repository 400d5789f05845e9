"""`reweigh predict`: new samples through the student of a classification run."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from reweigh.cli import options
from reweigh.cli.screen import screen
from reweigh.errors import DataError


def predict(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a finished run.")],
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="A folder of images, an image, a table (.csv, .parquet) or an .npz with an array x.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Table to write, .csv or .parquet.", show_default="CSV on stdout"),
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="A column with the probability of each class.")
    ] = False,
    last: options.Last = False,
    device: options.Device = None,
    threads: options.Threads = None,
) -> None:
    """Predict the classes of new samples; labels are not needed.

    Image files are brought to the channels and, where the run resized its
    images, to the size that the student was trained on; the columns of a table
    are found by their names. RUN holds all that is needed, not the data that
    it learned from (but your module, if the student is your own). Columns:
    id (a file's path, a row's id, else its number), predicted_label,
    confidence. In Python the same is reweigh.Predictor.

    Images that cannot be read, or are of another size, are named on stderr and
    have no row; the exit code is then 3.

    [bold]Examples[/bold]

    reweigh predict runs/photos new_photos/ > predicted.csv

    reweigh predict runs/customers customers.parquet --out churn.parquet --probabilities
    """
    import torch

    from reweigh import signals
    from reweigh.data.table_file import check_place, print_csv, write_columns
    from reweigh.training.predicted import Predicted, column_names
    from reweigh.training.predictor import Predictor

    if threads is not None:
        torch.set_num_threads(threads)
    if out is not None:
        check_place(out)
    with signals.listening():
        predictor = Predictor(run, last=last, device=device)
        if out is not None:  # the classes are known now, and nothing was read yet
            check_place(out, column_names(predictor.class_names, each_class=probabilities))
        samples = predictor.read(data)
        for caution in samples.cautions:
            screen.say(f"caution: {caution}")
        found = Predicted.of(predictor, samples, each_class=probabilities)
        if out is not None:
            write_columns(found.columns, len(found), out)
            screen.say(f"{len(found)} predictions are in {out}")
        else:
            sys.stdout.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue] (a text stream has it)
            print_csv(found.columns, len(found), sys.stdout)
        for path, why in samples.unfit.items():
            screen.complain(f"{path} {why}.")
    if unfit := len(samples.unfit):
        raise DataError(
            f"{unfit} of {len(found) + unfit} images have no prediction, for the reasons above; the others "
            "have."
        )
