"""Run a recipe: the comparison's own runner does the runs, the paper's table shows them."""

import json
from collections.abc import Sequence
from pathlib import Path

from reweigh.comparing.compare import compare
from reweigh.errors import UsageError
from reweigh.paper.cell import Cell, Recipe, Scale
from reweigh.paper.plan import Place, runs_of, waves
from reweigh.paper.result import Result, read_result
from reweigh.replacing import make_folder, write_atomically
from reweigh.training.progress import Progress
from reweigh.training.run_records import read_record

MARK = "paper.json"


def run(
    recipe: Recipe,
    scale: Scale,
    place: Place,
    progress: Progress,
    *,
    seeds: int,
    jobs: int = 1,
    cluster: str | None = None,
    only: Sequence[str] = (),
) -> Result:
    """Do what is not done yet; the same call takes up a table that was stopped."""
    claim(place.folder, scale)
    cells = chosen(recipe.cells(scale), only)
    failures: dict[str, str] = {}
    for wave in waves(cells, seeds, place):
        found = compare(wave, place.folder, progress, jobs, cluster)
        failures |= {name: str(why) for name, why in found.failures.items()}
    return read_result(recipe, scale, cells, place, seeds, failures)


def claim(folder: Path, scale: Scale) -> None:
    """One folder, one scale."""
    if scale_of(folder, scale) is None:
        make_folder(folder, "choose another --out")
        write_atomically(folder / MARK, json.dumps({"scale": scale}) + "\n")


def scale_of(folder: Path, wanted: Scale) -> Scale | None:
    """The scale of the runs in a folder, None where there are none yet; another one is refused."""
    if not (folder / MARK).is_file():
        return None
    there = read_record(folder / MARK).get("scale")
    if there != wanted:
        raise UsageError(
            f"{folder} holds runs at scale {there}, which never mix with {wanted}; "
            "choose another --out."
        )
    return there


def chosen(cells: Sequence[Cell], only: Sequence[str]) -> list[Cell]:
    """The rows (or columns) asked for, and plain training beside them, for the cost.

    Columns go by their own names, or by those of the paper's columns in whose place they stand.
    """
    if not only:
        return list(cells)
    rows, columns = {c.row for c in cells}, {name for c in cells for name in c.columns}
    for name in only:
        if name not in rows | columns:
            raise UsageError(f"No row or column {name!r}; {_there_are(cells)}.")
    wanted_rows, wanted_columns = rows & set(only), columns & set(only)
    return [
        c
        for c in cells
        if (not wanted_columns or wanted_columns & {*c.columns})
        and (not wanted_rows or c.row in wanted_rows or c.plain)
    ]


def _there_are(cells: Sequence[Cell]) -> str:
    rows, columns = dict.fromkeys(c.row for c in cells), dict.fromkeys(c.column for c in cells)
    return f"there are the rows {'; '.join(rows)} and the columns {'; '.join(columns)}"


def homes(cells: Sequence[Cell], seed: int, place: Place) -> list[Path]:
    """The folders of the runs of one seed."""
    return [place.home(*run) for cell in cells for run in runs_of(cell, seed, place)]
