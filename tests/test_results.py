"""The page of results shows what is stored, cell for cell."""

from pathlib import Path

import pytest

from reweigh.training.reading_tables import read_tables

ROOT = Path(__file__).parents[1]
TABLES = sorted({run.parent for run in (ROOT / "results").glob("*/*_s[0-9]*_*") if run.is_dir()})


@pytest.mark.parametrize("folder", TABLES, ids=lambda folder: folder.name)
def test_a_table_of_the_page_is_the_one_that_is_stored(folder: Path) -> None:
    """`reweigh table FOLDER --markdown` prints what belongs there."""
    page = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    assert f"results/{folder.name}" in page
    (table,) = read_tables(folder)
    assert table.markdown() in page
