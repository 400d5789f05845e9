from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reweigh.data.columns import Columns
from reweigh.data.ids import read_ids
from reweigh.data.samples import Source, numbered
from reweigh.data.sources import load
from reweigh.data.table_file import inert
from reweigh.errors import DataError

WHOLE = numbered(
    np.zeros((5, 1), dtype=np.float32), np.asarray([0, 1, 2, 0, 1]),
    np.asarray(["e.png", "d.png", "c.png", "b.png", "a.png"]),
)  # fmt: skip
SOURCE = Source(
    WHOLE, numbered(WHOLE.inputs, WHOLE.labels), ("cat", "dog", "owl"), "table", "given"
)
KEYED = {
    "customer": ["1", "2", "3", "4", "5"],
    "place": ["0", "1", "2", "3", "4"],
    "age": ["1"] * 5,
}


def write(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    return tmp_path / name


def of_a_table(id_column=None, names=None, **columns):
    """A source whose rows have the cells of `KEYED`, and further columns."""
    table = Columns({n: np.asarray(c) for n, c in (KEYED | columns).items()}, Path("t.csv"))
    rows = numbered(WHOLE.inputs, WHOLE.labels, None if names is None else np.asarray(names))
    return replace(SOURCE, train=rows, table=table, id_column=id_column)


@pytest.mark.parametrize(("name", "text"), [("t.csv", "id\n2\n3\n"), ("t.txt", "2\n3\n")])
def test_ids_of_another_column_are_never_taken_for_rows(tmp_path, name, text):
    file = write(tmp_path, name, text)
    way = "'customer' of the data.*--set data.id_column=customer;.*add an empty column 'name'"
    with pytest.raises(DataError, match=way):
        read_ids(file, of_a_table())
    named = of_a_table("customer", KEYED["customer"])
    assert read_ids(file, named).ids.tolist() == [1, 2]


def test_ids_of_another_column_that_are_no_numbers_have_one_way_out(tmp_path):
    source = of_a_table(key=["k1", "k2", "k3", "k4", "k5"])
    with pytest.raises(DataError, match=r"say so: --set data\.id_column=key\.$"):
        read_ids(write(tmp_path, "t.txt", "k2\nk3\n"), source)


def test_numbers_of_rows_are_fine_where_no_column_holds_them_or_where_it_says_the_same(tmp_path):
    assert read_ids(write(tmp_path, "t.txt", "0\n2\n"), of_a_table()).ids.tolist() == [0, 2]
    counted = of_a_table(customer=["7", "7", "2", "3", "4"])  # not one row each
    assert read_ids(write(tmp_path, "t.txt", "2\n3\n"), counted).ids.tolist() == [2, 3]


@pytest.mark.parametrize("named", [None, "customer"])
def test_an_empty_column_of_names_says_that_ids_are_numbers(tmp_path, named):
    source = of_a_table(named, KEYED["customer"] if named else None)
    file = write(tmp_path, "audit.csv", "index,id,name,label\n0,2,,cat\n1,3,,cat\n")
    assert read_ids(file, source, ("label",)).ids.tolist() == [2, 3]
    assert read_ids(write(tmp_path, "t.csv", "id,name\n2,\n"), source, ("label",)).ids.tolist() == [
        2
    ]


def test_the_column_of_ids_may_be_called_as_in_the_data_and_in_any_case(tmp_path):
    named = of_a_table("customer", KEYED["customer"])
    for header in ("customer", "Customer", "id", "ID", "Id"):
        assert read_ids(write(tmp_path, "t.csv", f"{header}\n3\n"), named).ids.tolist() == [2]
    with pytest.raises(
        DataError, match=r"no column 'id' .it has customer.*data.id_column=customer"
    ):
        read_ids(write(tmp_path, "t.csv", "customer\n3\n4\n"), of_a_table())
    with pytest.raises(DataError, match=r"no column 'id' .it has age.; name .* by name\.$"):
        read_ids(write(tmp_path, "t.csv", "age\n1\n"), of_a_table())


def test_names_of_a_table_that_has_none_get_the_way_out(tmp_path):
    with pytest.raises(
        DataError, match=r"'K-7' is neither.*call the column that names its rows id"
    ):
        read_ids(write(tmp_path, "t.txt", "K-7\n"), of_a_table())


def test_names_that_are_numbers_are_never_taken_for_positions(tmp_path):
    table = numbered(WHOLE.inputs, WHOLE.labels, np.asarray(["3", "4", "5", "6", "7"]))
    source = replace(SOURCE, train=table)
    found = read_ids(write(tmp_path, "t.txt", "4\n3\n"), source)
    assert found.ids.tolist() == [1, 0]
    with pytest.raises(DataError, match="id '0' is not the name of a sample, although '4' is;"):
        read_ids(write(tmp_path, "t.txt", "4\n0\n"), source)
    assert table.called().tolist() == ["3", "4", "5", "6", "7"]
    twice = numbered(WHOLE.inputs, WHOLE.labels, np.asarray(["a", "a", "b", "c", "d"]))
    assert twice.called().tolist() == [0, 1, 2, 3, 4]


def test_what_a_table_of_ours_made_harmless_is_read_as_it_was(tmp_path):
    hostile = numbered(WHOLE.inputs, WHOLE.labels, np.asarray(["=a", "-b/1", "'c", "+1", "'=a"]))
    written = "\n".join(inert(name) for name in hostile.called().tolist())
    found = read_ids(write(tmp_path, "t.csv", f"id\n{written}\n"), replace(SOURCE, train=hostile))
    assert found.ids.tolist() == [0, 1, 2, 3, 4]


def test_ids_with_and_without_labels(tmp_path):
    found = read_ids(write(tmp_path, "t.txt", "4\n2\n"), SOURCE)
    assert found.ids.tolist() == [4, 2]
    assert found.labels is None
    file = write(tmp_path, "t.csv", "id,label\na.png,cat\n")
    found = read_ids(file, SOURCE, ("species", "label"))
    assert found.ids.tolist() == [4]
    assert found.labels.tolist() == ["cat"]
    assert read_ids(file, SOURCE).labels is None  # nobody asked for them
    file = write(tmp_path, "p.csv", "path,species\na.png,cat\n")
    assert read_ids(file, SOURCE, ("species", "label")).labels.tolist() == ["cat"]
    with pytest.raises(DataError, match="a column 'species'; if it holds corrected labels"):
        read_ids(file, SOURCE, ("label",))


def test_in_a_copy_of_an_audit_id_names_the_samples(tmp_path):
    """Its column `index` counts training samples, and the data may have one of that name."""
    rows = "".join(f"{100 - i},{i / 7},{i % 2}\n" for i in range(40))
    (tmp_path / "t.csv").write_text("index,x,label\n" + rows)
    source = load(str(tmp_path / "t.csv"), id_column="index")
    (tmp_path / "audit.csv").write_text("index,id,name,given_label,label\n100,84,84,0,1\n")
    assert read_ids(tmp_path / "audit.csv", source, ("label",)).ids.tolist() == [16]
