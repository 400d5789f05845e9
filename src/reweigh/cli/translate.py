"""`reweigh translate`: text through the student of a translation run."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from reweigh.cli import options
from reweigh.cli.screen import screen
from reweigh.errors import DataError


def translate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a translation run.")],
    beam: Annotated[int, typer.Option(min=1, help="Beam width.")] = 5,
    length_penalty: Annotated[
        float, typer.Option(help="α of the score log p / T^α; more favours long sentences.")
    ] = 1.0,
    max_tokens: Annotated[
        int, typer.Option(min=1, help="Padded tokens of a batch: lower it if memory is short.")
    ] = 4096,
    last: options.Last = False,
    device: options.Device = None,
    threads: options.Threads = None,
) -> None:
    """Translate standard input, a sentence a line, to standard output.

    Sentences are cut into words as the run's own text was, and translated in
    batches of similar lengths; line k of the output is the translation of
    line k of the input, and an empty line stays empty.

    [bold]Examples[/bold]

    reweigh translate runs/multi30k < sentences.de > sentences.en

    echo "ein hund schläft." | reweigh translate runs/multi30k --beam 1
    """
    from reweigh.decoding.beam import Beam
    from reweigh.text.pairs import lines_of
    from reweigh.training.interpreter import Interpreter

    how = Beam(beam, length_penalty)
    model = Interpreter(run, last=last, device=device, threads=threads)
    raw = sys.stdin.buffer.read() if sys.stdin is not None else b""
    if not raw:
        raise DataError("There is nothing to translate: give sentences on standard input.")
    lines = lines_of(raw, "standard input")
    unknown = model.unknown_share(lines)
    if unknown > 0.1:
        screen.say(
            f"{unknown:.0%} of the pieces are unknown to this run; is it the right language?"
        )
    for sentence in model.translate(lines, how, max_tokens):
        screen.show(sentence)
