import numpy as np
import pytest

from reweigh.data.columns import Columns
from reweigh.errors import DataError


def read(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_text(content)
    return Columns.read(path)


def test_numbers_and_texts(tmp_path):
    columns = read(tmp_path, '\ufeffa,b\r\n1,"x, y"\r\n2.5,z\r\n')
    assert columns.names == ["a", "b"]
    assert columns.numbers("a").tolist() == [1, 2.5]
    assert columns.numbers("b") is None
    assert columns.texts("b").tolist() == ["x, y", "z"]


def test_a_cell_too_long_for_a_number_is_text(tmp_path):
    columns = read(tmp_path, f"a,b\n1,{'x' * 1000}\n2, y \n")
    assert columns.numbers("b") is None
    assert columns.texts("b").tolist() == ["x" * 1000, "y"]


def test_what_is_not_finite_is_named_and_gaps_are_nan(tmp_path):
    with pytest.raises(DataError, match="column 'a' has 'inf' in data row 2"):
        read(tmp_path, "a,b\n1,x\ninf,y\n").numbers("a")
    for gap in ("nan", "", " "):
        found = read(tmp_path, f"a,b\n1,x\n{gap},y\n").numbers("a")
        np.testing.assert_array_equal(found, [1, np.nan])


def test_dates_and_truths_are_numbers_and_none_may_be_a_class(tmp_path):
    text = "day,vip,odd,label\n1970-01-02,TRUE,1970-01-02,None\n,false,x,nan\n"
    columns = read(tmp_path, text + "1970-01-01T00:00:01.5,,2024-02-31,a\n")
    np.testing.assert_array_equal(columns.numbers("day"), [86400, np.nan, 1.5])
    np.testing.assert_array_equal(columns.numbers("vip"), [1, 0, np.nan])
    assert columns.numbers("odd") is None
    assert columns.labels("label").tolist() == ["None", "nan", "a"]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_dates_of_parquet_mean_the_same_in_every_unit(tmp_path, unit):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    days = pa.array([86400, None, 2], pa.int64()).cast(pa.timestamp("s")).cast(pa.timestamp(unit))
    flags = pa.array([True, None, False])
    parquet.write_table(pa.table({"day": days, "vip": flags}), tmp_path / "t.parquet")
    columns = Columns.read(tmp_path / "t.parquet")
    np.testing.assert_array_equal(columns.numbers("day"), [86400, np.nan, 2])
    np.testing.assert_array_equal(columns.numbers("vip"), [1, np.nan, 0])
    assert columns.texts("vip").tolist() == ["True", "", "False"]


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"a": [1, None], "b": ["x", None], "c": [True, False]})
    parquet.write_table(table, tmp_path / "t.parquet")
    columns = Columns.read(tmp_path / "t.parquet")
    assert columns.numbers("c").tolist() == [1, 0]
    assert columns.numbers("b") is None
    np.testing.assert_array_equal(columns.numbers("a"), [1, np.nan])
    with pytest.raises(DataError, match="data row 2 has no label"):
        columns.labels("b")
    assert np.asarray(columns.texts("c")).tolist() == ["True", "False"]


def test_na_is_a_gap_among_dates_and_truths_too(tmp_path):
    columns = read(tmp_path, "day,vip\nNA,n/a\n1970-01-02,true\n-,false\n")
    np.testing.assert_array_equal(columns.numbers("day"), [np.nan, 86400, np.nan])
    np.testing.assert_array_equal(columns.numbers("vip"), [np.nan, 1, 0])
    assert (columns.kind("day"), columns.kind("vip")) == ("date", "true or false")
    assert read(tmp_path, "a,b\nNA,1\nNA,2\n").numbers("a") is None
