from dataclasses import replace

import pytest

from reweigh.data.columns import Columns
from reweigh.data.sources import load

HEADER = "id,key,size,day,flag,city,same,gone,also,split,trusted,label"


def table(tmp_path):
    rows = [
        f"r{i},{1000 + i},{i % 7 if i % 5 else ''},2023-01-0{1 + i % 9},{'true' if i % 2 else 'false'},"
        f"{'abcdef'[i % 6]},5,x{i},{'one' if i < 30 else 'two'},{'test' if i >= 30 else 'train'},"
        f"{i < 3},{'yn'[i % 2]}"
        for i in range(40)
    ]
    (tmp_path / "t.csv").write_text("\n".join([HEADER, *rows]))
    return tmp_path / "t.csv"


def test_every_column_in_the_files_order(tmp_path):
    found = load(str(table(tmp_path)), ignore=("gone",)).readings
    assert {reading.name: str(reading) for reading in found} == {
        "id": "id",
        "key": "number",
        "size": "number (8 empty)",
        "day": "date",
        "flag": "true or false",
        "city": "6 categories: 'a', 'b', 'c', 'd' …",
        "same": "constant",
        "gone": "ignored",
        "also": "constant",  # in the training rows, which is what counts
        "split": "split",
        "trusted": "trusted",
        "label": "label",
    }
    assert ",".join(reading.name for reading in found) == HEADER
    assert [reading.name for reading in found if reading.key] == ["key"]


def test_parquet_is_read_alike(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = Columns.read(table(tmp_path))
    days = columns.values["day"].astype("M8[s]")
    flags = columns.values["flag"] == "true"
    values = columns.values | {"day": days, "flag": flags, "key": columns.values["key"].astype(int)}
    parquet.write_table(
        pa.table({k: pa.array(v) for k, v in values.items()}), tmp_path / "t.parquet"
    )
    csv, other = (load(str(tmp_path / f"t.{end}"), ignore=("gone",)) for end in ("csv", "parquet"))
    assert [replace(r, categories=()) for r in csv.readings] == [
        replace(r, categories=()) for r in other.readings
    ]
