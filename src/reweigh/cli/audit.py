"""`reweigh audit`: which training labels of a run look wrong."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reweigh.cli import options
from reweigh.cli.screen import screen

if TYPE_CHECKING:
    from reweigh.audit.audited import Audited

TOO_MANY = 6


class How(StrEnum):
    """What a second pass does with labels that look wrong."""

    drop = "drop"
    relabel = "relabel"


def audit(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a finished run.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Table to write, .csv or .parquet.", show_default="RUN/audit.csv"),
    ] = None,
    fail_above: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Leave with exit code 6 on more than N issues."),
    ] = None,
    second_pass: Annotated[
        How | None,
        typer.Option(help="Train again without the issues, or under the suggested labels."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Find the training labels that look wrong, with a quality score for every one.

    The score is the probability that the label is right, by Bayes' rule from the
    student's answers and the noise matrix that they imply; low is suspicious. The
    teacher's weights stand beside it and are not mixed into it. How many labels
    of a class are wrong is estimated from the student's confidence; that many,
    the lowest scores first, are issues. The table has cleanlab's column names.

    A second pass trains again in a folder beside RUN, all else equal, and tells
    by the trusted samples whether that helped, where the method does not train on
    them as well (method.trusted_share = 0); the same command goes on with one
    that was stopped.

    [bold]Examples[/bold]

    reweigh audit runs/photos

    reweigh audit runs/photos --out labels.parquet

    reweigh audit runs/photos --second-pass drop

    reweigh audit runs/photos --fail-above 100 --json > audit.json

    Of a translation run all sentence pairs are ranked by the mean of two
    witnesses: the rank of the weight in the last epochs, and the probability that
    the student gives a target token. How many are wrong is not estimated.
    """
    from reweigh import signals

    with signals.listening():  # from here on: imports alone take seconds
        from reweigh.training.run import settings_of

        task = settings_of(run).task
        if task == "translation":
            _refuse_counts(fail_above, second_pass)
        found, path = _audited(task, run, out)
        summary = {**found.summary(), "table": str(path)}
        if second_pass is not None:
            summary["second_pass"] = _trained_again(run, found, second_pass)
        _show(summary, task, as_json)
        if fail_above is not None:
            _fail_above(fail_above, summary["issues"])


def _refuse_counts(fail_above: int | None, second_pass: How | None) -> None:
    """Pairs are ranked, not counted: what asks for a number of issues is refused before the work."""
    from reweigh.errors import UsageError

    if fail_above is not None or second_pass is not None:
        raise UsageError(
            "--fail-above and --second-pass need a number of issues, and how many sentence pairs are "
            "wrong is not estimated: cut the ranking where you want."
        )


def _audited(task: str, run: Path, out: Path | None) -> "tuple[Audited, Path]":
    """Audit the run and write the table; a place where it cannot be written is refused first."""
    from reweigh.data.table_file import check_place, write_columns

    if task == "translation":
        from reweigh.audit.pairs import PairAudit as Kind
        from reweigh.audit.pairs import audit_pairs as audit_it
    else:
        from reweigh.audit.run import Audit as Kind
        from reweigh.audit.run import audit_run as audit_it
    path = out or run / "audit.csv"
    check_place(path, Kind.COLUMNS)
    found = audit_it(run)
    write_columns(found.columns, len(found), path)
    return found, path


def _trained_again(run: Path, found: "Audited", how: How) -> dict[str, Any]:
    """What a second pass came to."""
    from reweigh.audit.run import Audit
    from reweigh.audit.second_pass import second_pass
    from reweigh.training.progress import choose_progress

    assert isinstance(found, Audit), "pairs were refused"
    progress = choose_progress(screen.quiet, screen.color)
    return second_pass(run, found, how.value, progress, sys.argv).outcome()


def _show(summary: dict[str, Any], task: str, as_json: bool) -> None:
    if as_json:
        screen.show_json(summary)
        return
    from reweigh.cli.audit_parts import label_parts, pair_parts

    for part in pair_parts(summary) if task == "translation" else label_parts(summary):
        screen.show(part)


def _fail_above(allowed: int, issues: int) -> None:
    """For CI."""
    from reweigh.report.words import counted

    if issues > allowed:
        screen.complain(f"{counted(issues, 'label issue')}, with {allowed:,} allowed.")
        raise typer.Exit(TOO_MANY)
