"""Rows that a table has twice, with their ids."""

import numpy as np
import pytest

from reweigh.data.ids import read_ids
from reweigh.data.prepare import DataSpec, prepare
from reweigh.data.sources import load
from reweigh.errors import DataError

HEADER, ROWS = "id,x,note,label", [f"r{i},{i / 7},,{'abc'[i % 3]}" for i in range(90)]


def write(tmp_path, rows, header=HEADER):
    (tmp_path / "t.csv").write_text("\n".join([header, *rows]))
    return tmp_path / "t.csv"


def test_they_count_once_and_a_run_says_so(tmp_path):
    spec = {"trusted_per_class": 5, "ignore": ("note",)}
    once = prepare(DataSpec(data=str(write(tmp_path, ROWS)), **spec))
    twice = prepare(DataSpec(data=str(write(tmp_path, [*ROWS, *ROWS[:20]])), **spec))
    assert twice.record["fingerprint"] == once.record["fingerprint"]
    assert "20 rows repeat another one, id and all, and count once" in twice.cautions
    assert not any("count once" in word for word in once.cautions)
    assert twice.train.names is not None
    assert len(set(twice.train.names.tolist())) == len(twice.train)


def test_numbers_of_rows_stay_those_of_the_table(tmp_path):
    path = write(tmp_path, [*ROWS[:5], *ROWS])
    source = load(str(path), ignore=("note",))
    assert source.repeats == 5
    parts = (source.train, source.test)
    ids, names = (np.concatenate([getattr(p, what) for p in parts]) for what in ("ids", "names"))
    assert sorted(ids) == [*range(5), *range(10, 95)]
    rows = path.read_text().splitlines()[1:]
    assert [rows[i].split(",")[0] for i in ids] == names.tolist()
    (tmp_path / "l.txt").write_text("a\n" * 95)  # one for every row
    found = prepare(DataSpec(data=str(path), labels=tmp_path / "l.txt", ignore=("note",)))
    assert set(found.train.labels) == {0}


@pytest.mark.parametrize("other", ["r3,9,,a", "r3,0.42857142857142855,,b", f"r3,{3 / 7},new,a"])
def test_different_rows_of_one_id_are_refused_and_counted(tmp_path, other):
    path = write(tmp_path, [*ROWS, ROWS[7], other, "r4,9,,a"])
    sentence = (
        r"different rows of one id .2 such ids, 'r3' the first.; .*--set data\.id_column=NAME"
    )
    with pytest.raises(DataError, match=sentence):
        load(str(path), ignore=("note",))


def test_empty_numbers_of_parquet_are_equal(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    x = [None if i == 3 else i / 7 for i in range(90)]
    columns = {
        "id": [*range(90), 3],
        "x": [*x, None],
        "label": ["ab"[i % 2] for i in range(90)] + ["b"],
    }
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    assert load(str(tmp_path / "t.parquet")).repeats == 1


def test_a_column_that_could_name_the_rows_may_have_repeats(tmp_path):
    rows = [f"{i + 1},{i / 7},{'ab'[i % 2]}" for i in range(60)]
    path = write(tmp_path, [*rows, *rows[:6]], "customer,x,label")
    (tmp_path / "sure.txt").write_text("3\n4\n")
    with pytest.raises(DataError, match="stand in the column 'customer' of the data"):
        read_ids(tmp_path / "sure.txt", load(str(path)))
