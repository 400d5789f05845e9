"""Rows that come after training: what the student never saw must not move it unseen."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from reweigh.data.columns import Columns
from reweigh.data.encoding import Column, Encoding
from reweigh.errors import DataError


def read(folder: Path, content: str, name: str = "t.csv") -> Columns:
    (folder / name).write_text(content)
    return Columns.read(folder / name)


def learned(columns: Columns) -> Encoding:
    return Encoding.learned(columns, columns.names, np.ones(len(columns), bool))


def test_a_number_that_never_changed_in_training_is_not_looked_at(tmp_path):
    """Its weights are still where they began: they must meet nothing but 0."""
    encoding = learned(read(tmp_path, "a,day,year\n1,2023-03-17,7\n2,2023-03-17,\n"))
    later = read(tmp_path, "a,day,year\n1,2024-03-17,8\n2,2023-03-17,\n")
    np.testing.assert_array_equal(encoding(later), [[-1, 0, 0, 0], [1, 0, 0, 1]])
    day, year = encoding.cautions(later)
    assert "'day': 1 of 2 rows differ from what it is in all training rows" in day
    assert "'year': 1 of 2" in year
    assert Encoding.model_validate_json(encoding.model_dump_json()) == encoding


@pytest.mark.parametrize(
    ("then", "now", "words"),
    [
        ("2020-01-01", "20230317", "read as number, and the student learned from it as date"),
        ("5", "2020-01-01", "read as date, and the student learned from it as number"),
    ],
)
def test_numbers_are_no_dates(tmp_path, then, now, words):
    encoding = learned(read(tmp_path, f"a,b\n1,{then}\n2,{then}\n"))
    with pytest.raises(DataError, match=words):
        encoding(read(tmp_path, f"a,b\n1,{now}\n2,\n"))
    encoding(read(tmp_path, "a,b\n1,\n2,NA\n"))  # nothing speaks against gaps
    Column(name="b", mean=3)(read(tmp_path, f"a,b\n1,{now}\n"))  # of a run before kinds were kept


def test_true_and_false_may_come_as_numbers(tmp_path):
    encoding = learned(read(tmp_path, "a\ntrue\nfalse\n"))
    np.testing.assert_array_equal(encoding(read(tmp_path, "a\n1\n0\n")), [[1], [-1]])


@pytest.mark.filterwarnings("error")
def test_a_cell_beyond_what_can_be_computed_with_is_named(tmp_path):
    encoding = learned(read(tmp_path, "a\n1\n2\n"))
    with pytest.raises(DataError, match="column 'a' has '1e39' in data row 2, too far from"):
        encoding(read(tmp_path, "a\n1\n1e39\n"))


def test_one_long_text_costs_its_own_length(tmp_path):
    """Of one width, 2,000 cells of this column would take 160 MB."""
    content = "a\n" + "".join(f"t{i % 3}\n" for i in range(2000)) + "x" * 20_000 + "\n"
    columns = read(tmp_path, content)
    tracemalloc.start()
    found = learned(columns)(columns)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.shape == (2001, 4)
    np.testing.assert_array_equal(found.sum(axis=1), 1)
    assert peak < 5e6
