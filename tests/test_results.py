"""The page of results shows what is stored, cell for cell."""

from pathlib import Path

import pytest

from reweigh.comparing.reading_tables import read_tables
from reweigh.paper.catalogue import find
from reweigh.paper.plan import Place
from reweigh.paper.result import read_result
from reweigh.paper.run import chosen

ROOT = Path(__file__).parents[1]
PAPER = ROOT / "results/paper-cpu"
RUNS = [run for run in (ROOT / "results").glob("*/*_s[0-9]*_*") if run.is_dir()]
TABLES = sorted({run.parent for run in RUNS} - {PAPER})
OF_PAPER = {"features": (), "flip": ("CIFAR-10, 40% flip",)}
"""Tables of the paper at cpu scale, and the columns that were run."""


@pytest.mark.parametrize("folder", TABLES, ids=lambda folder: folder.name)
def test_a_table_of_the_page_is_the_one_that_is_stored(folder: Path) -> None:
    """`reweigh table FOLDER --markdown` prints what belongs there."""
    page = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    assert f"results/{folder.name}" in page
    (table,) = read_tables(folder)
    assert table.markdown() in page


@pytest.mark.parametrize("name", OF_PAPER)
def test_a_table_of_the_paper_on_the_page_is_the_one_that_is_stored(name: str) -> None:
    """`reweigh paper show NAME --scale cpu --only COLUMN --out results/paper-cpu --markdown`."""
    page = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    recipe = find(name)
    cells = chosen(recipe.cells("cpu"), OF_PAPER[name])
    assert read_result(recipe, "cpu", cells, Place(PAPER), 3, {}).markdown() in page
