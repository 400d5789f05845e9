"""The options that several verbs share, so that each means the same everywhere."""

from pathlib import Path
from typing import Annotated, Any

import typer

from reweigh.errors import UsageError


def settings(**given: Any) -> dict[str, Any]:
    """The options that were given, by the names of the settings that they change."""
    return {_SETTINGS.get(name, name): v for name, v in given.items() if v is not None}


_SETTINGS = {
    "data": "data.name",
    "data_dir": "data.dir",
    "noise": "data.noise",
    "epochs": "training.epochs",
}


def one_form(**asked: bool) -> None:
    """Refuse two forms of one result: whoever pipes it on would get the one and not the other."""
    names = [f"--{name}" for name, wanted in asked.items() if wanted]
    if len(names) > 1:
        raise UsageError(f"{' and '.join(names)} are forms of the same table: choose one.")


SCREEN, _WHAT, _HOW = "Screen", "What to learn", "Where and how"

ConfigFile = Annotated[
    Path | None,
    typer.Argument(metavar="CONFIG.toml", help="Settings file; all keys are optional."),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change one setting, such as training.lr=0.1."),
]
Task = Annotated[
    str | None, typer.Option(help="classification or translation.", rich_help_panel=_WHAT)
]
Data = Annotated[
    str | None,
    typer.Option(help="Data set: a built-in name or a path.", rich_help_panel=_WHAT),
]
DataDir = Annotated[
    str | None,
    typer.Option(help="Where the files of a built-in set are.", rich_help_panel=_WHAT),
]
Noise = Annotated[
    str | None,
    typer.Option(
        help="Planted: none, uniform:P (of the labels drawn anew), flip:P (to two other classes), "
        "matrix:FILE; mask:P:Q for pairs.",
        rich_help_panel=_WHAT,
    ),
]
Epochs = Annotated[
    int | None, typer.Option(help="Passes over the training samples.", rich_help_panel=_WHAT)
]
Seed = Annotated[int | None, typer.Option(help="Seed of everything random.", rich_help_panel=_HOW)]
Device = Annotated[
    str | None, typer.Option(help="auto, cpu, cuda, cuda:1 or mps.", rich_help_panel=_HOW)
]
Threads = Annotated[
    int | None, typer.Option(min=1, help="CPU threads of torch.", rich_help_panel=_HOW)
]
Out = Annotated[
    Path | None,
    typer.Option(help="Folder to make; never overwritten.", rich_help_panel=_HOW),
]
TableOut = Annotated[
    Path | None,
    typer.Option(help="Folder of the runs; finished ones there are kept.", rich_help_panel=_HOW),
]
Jobs = Annotated[
    int,
    typer.Option(
        min=1,
        help="Runs at the same time; each then gets cores / jobs threads.",
        rich_help_panel=_HOW,
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Do the runs on a cluster: ray, ray://HOST:PORT or dask://HOST:PORT.",
        rich_help_panel=_HOW,
    ),
]
Last = Annotated[
    bool, typer.Option("--last", help="The student of the last epoch, not the best by trusted.")
]
AllowDrift = Annotated[
    bool,
    typer.Option(
        "--allow-drift",
        help="Resume despite other threads or versions; results will be close, not bit-identical.",
        rich_help_panel=_HOW,
    ),
]
PrintConfig = Annotated[
    bool,
    typer.Option("--print-config", help="Print all settings, explained, and stop."),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Check everything, write nothing, say what would be done.")
]
Markdown = Annotated[bool, typer.Option("--markdown", help="For a page.")]
Latex = Annotated[bool, typer.Option("--latex", help="For a paper, with booktabs.")]
Csv = Annotated[bool, typer.Option("--csv", help="One line a method, numbers as they are.")]
Json = Annotated[
    bool,
    typer.Option("--json", help="One JSON object on stdout.", rich_help_panel=SCREEN),
]
