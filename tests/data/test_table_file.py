"""A table that is written never takes the place of somebody's own."""

from pathlib import Path

import numpy as np
import pytest

from reweigh.data.table_file import write_columns
from reweigh.errors import UsageError

WHOLE = {"id": np.array(["a", "b"]), "confidence": np.array([0.5, 0.25])}


def columns(part: slice) -> dict:
    return {name: column[part] for name, column in WHOLE.items()}


@pytest.mark.parametrize("name", ["found.csv", "found.parquet"])
def test_a_table_of_the_same_columns_is_renewed(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    write_columns(columns, 1, path)
    before = path.read_bytes()
    write_columns(columns, 2, path)
    assert path.read_bytes() != before


@pytest.mark.parametrize(
    "text", ["id,confidence,verdict\na,0.5,wrong\n", "age,label\n1,2\n", "", "\0\1"]
)
def test_another_file_stays(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match="already exists with other columns"):
        write_columns(columns, 2, path)
    assert path.read_text() == text


def test_so_does_another_parquet_file_and_what_only_calls_itself_one(tmp_path: Path) -> None:
    path = tmp_path / "mine.parquet"
    write_columns(lambda part: {"age": np.arange(3)[part]}, 3, path)
    with pytest.raises(UsageError, match=r"other columns \(age\)"):
        write_columns(columns, 2, path)
    path.write_text("no parquet")
    with pytest.raises(UsageError, match="was not overwritten"):
        write_columns(columns, 2, path)
