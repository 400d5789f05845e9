"""The command `reweigh`: its verbs, and what becomes of errors.

Exit codes: 0 done; 1 unexpected; 2 wrong usage or settings; 3 data; 4 checkpoint; 5 diverged;
6 more label issues than --fail-above; 75 stopped by a signal, what there is to save saved; 130 stopped by
a second Ctrl-C, or by one before a verb began its work.
"""

import sys
import traceback
from typing import Annotated

import typer

from reweigh import __version__
from reweigh.cli.audit import audit
from reweigh.cli.bench import bench
from reweigh.cli.compare import compare
from reweigh.cli.data import data
from reweigh.cli.demo import demo
from reweigh.cli.doctor import doctor
from reweigh.cli.paper import paper
from reweigh.cli.predict import predict
from reweigh.cli.report import report
from reweigh.cli.resume import resume
from reweigh.cli.screen import report_unexpected, screen
from reweigh.cli.settings_command import SettingsCommand
from reweigh.cli.start import STOPPED
from reweigh.cli.table import table
from reweigh.cli.train import train
from reweigh.cli.translate import translate
from reweigh.cli.verbs import Verbs
from reweigh.errors import OwnCodeError, ReweighError

app = Verbs(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(cls=SettingsCommand)(train)
app.command()(resume)
app.command(cls=SettingsCommand)(compare)
app.command()(table)
app.command()(predict)
app.command()(translate)
app.command()(demo)
app.command()(audit)
app.command()(report)
app.add_typer(paper, name="paper")
app.add_typer(data, name="data")
app.add_typer(bench, name="bench")
app.command()(doctor)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"reweigh {__version__}")
        raise typer.Exit


@app.callback()
def reweigh(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Train good models on imperfect data.

    A teacher weighs every training sample by looking at it through the student
    (its answers by default, its internal states in the paper's own), and learns
    from a small trusted set.

    Begin with [bold]reweigh demo[/bold]; every verb explains itself with --help.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with the exit code of what happened."""
    sys.excepthook = report_unexpected
    try:
        typer.main.get_command(app)(args=arguments, prog_name="reweigh")
    except ReweighError as error:
        if screen.debug:
            traceback.print_exc()
        whole = isinstance(error, OwnCodeError) and not screen.debug
        screen.complain(f"{error}; --debug shows the traceback" if whole else str(error))
        sys.exit(error.exit_code)
    except SystemExit as end:
        if end.code == STOPPED:
            screen.complain(f"stopped by Ctrl-C{_whereabouts()}.")
        raise


def _whereabouts() -> str:
    there = screen.folder is not None and screen.folder.is_dir()
    return f"; what was done so far is in {screen.folder}" if there else ""
