import numpy as np
import pytest

from reweigh.data.table_reading import read_cells
from reweigh.errors import DataError


def read(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_cells(path)[0]


def test_a_long_cell_widens_no_other(tmp_path):
    cells = read(tmp_path, f"a,b\n1,{'x' * 1000}\n2, y \n")
    assert cells["b"].dtype == object
    assert cells["a"].dtype.kind == "U"
    assert cells["b"].tolist() == ["x" * 1000, "y"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "has no rows"),
        ("a,b\n", "has no rows"),
        ("a,b\n1\n", "data row 1 has 1 cells, the header has 2"),
        ("a,a\n1,2\n", "two columns of one name"),
        (b"a\n\x81\n", "is text in neither UTF-8, UTF-16 nor cp1252; save it as UTF-8"),
        (b"\xff\xfea\x00\n", "cannot be read as CSV"),
        ("a|b\n1|2\n", "looks separated by '|'"),
        ("a;b\n1;2;3\n", r"data row 1 has 3 cells, the header has 2 .separated by ';'"),
        ('a\n"open\n', "cannot be read as CSV"),
    ],
)
def test_bad_files_get_one_sentence(tmp_path, content, sentence):
    with pytest.raises(DataError, match=sentence):
        read(tmp_path, content)


def test_cells_of_parquet_keep_their_types_and_gaps_among_texts_are_empty(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"a": [1, None], "b": [" x", None], "c": [True, None]})
    parquet.write_table(table, tmp_path / "t.parquet")
    cells, _ = read_cells(tmp_path / "t.parquet")
    np.testing.assert_array_equal(cells["a"], [1, np.nan])
    assert cells["b"].tolist() == ["x", ""]
    assert cells["c"].tolist() == ["True", ""]


def test_what_is_no_parquet_gets_one_sentence(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "bad.parquet").write_bytes(b"no")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        read_cells(tmp_path / "bad.parquet")
