import numpy as np
import pytest

from reweigh.data.columns import Columns
from reweigh.errors import DataError


def read(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return Columns.read(path)


def test_numbers_and_texts(tmp_path):
    columns = read(tmp_path, '\ufeffa,b\r\n1,"x, y"\r\n2.5,z\r\n')
    assert columns.names == ["a", "b"]
    assert columns.numbers("a").tolist() == [1, 2.5]
    assert columns.numbers("b") is None
    assert columns.texts("b").tolist() == ["x, y", "z"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "has no rows"),
        ("a,b\n", "has no rows"),
        ("a,b\n1\n", "data row 1 has 1 cells, the header has 2"),
        ("a,a\n1,2\n", "two columns of one name"),
        (b"a\n\xff\n", "cannot be read as CSV"),
        ('a\n"open\n', "cannot be read as CSV"),
    ],
)
def test_bad_files_get_one_sentence(tmp_path, content, sentence):
    with pytest.raises(DataError, match=sentence):
        read(tmp_path, content)


@pytest.mark.parametrize("gap", ["nan", "", "inf"])
def test_gaps_in_numbers_are_named(tmp_path, gap):
    with pytest.raises(DataError, match=rf"column 'a' has '{gap}' in data row 2"):
        read(tmp_path, f"a,b\n1,x\n{gap},y\n").numbers("a")


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"a": [1, None], "b": ["x", None], "c": [True, False]})
    parquet.write_table(table, tmp_path / "t.parquet")
    columns = Columns.read(tmp_path / "t.parquet")
    assert columns.numbers("c").tolist() == [1, 0]
    assert columns.numbers("b") is None
    with pytest.raises(DataError, match="column 'a' has 'nan' in data row 2"):
        columns.numbers("a")
    with pytest.raises(DataError, match="data row 2 has no label"):
        columns.labels("b")
    (tmp_path / "bad.parquet").write_bytes(b"no")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        Columns.read(tmp_path / "bad.parquet")
    assert np.asarray(columns.texts("c")).tolist() == ["True", "False"]
