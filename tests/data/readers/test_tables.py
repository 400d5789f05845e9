import re
import shlex
import sys

import numpy as np
import pytest

from reweigh.data.sources import load
from reweigh.errors import DataError


def write(tmp_path, header, rows):
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    return str(tmp_path / "t.csv")


def people(n=40, **more):
    rng = np.random.default_rng(0)
    return [[round(a, 3), ["red", "blue"][i % 2], "yes" if i % 4 < 2 else "no"]
            for i, a in enumerate(rng.normal(50, 9, n))]  # fmt: skip


def test_numbers_are_standardised_by_the_training_rows_and_texts_one_hot(tmp_path):
    rows = [[*row, "test" if i >= 30 else "train"] for i, row in enumerate(people())]
    rows[35][1] = "green"  # unseen in training
    source = load(write(tmp_path, "age,colour,label,split", rows))
    train, test = source.train.inputs, source.test.inputs
    assert source.class_names == ("no", "yes")
    assert train.shape == (30, 3)  # age, blue, red
    np.testing.assert_allclose(train[:, 0].mean(), 0, atol=1e-6)
    np.testing.assert_allclose(train[:, 0].std(), 1, atol=1e-5)
    assert abs(test[:, 0].mean()) > 1e-3
    assert train[0, 1:].tolist() == [0, 1]
    assert test[5, 1:].tolist() == [0, 0]
    assert source.test.ids.tolist() == list(range(30, 40))


def test_without_a_split_a_fifth_is_test_and_equal_rows_stay_together(tmp_path):
    rows = [row for row in people() for _ in range(3)]
    source = load(write(tmp_path, "age,colour,label", rows))
    assert source.split == "ours"
    assert len(source.counted) == 120
    assert not set(source.train.content_hashes()) & set(source.test.content_hashes())
    assert np.bincount(source.test.labels).tolist() == [12, 12]


def test_a_trusted_column_and_an_own_label_column(tmp_path):
    rows = [[*row, i < 6] for i, row in enumerate(people())]
    source = load(write(tmp_path, "age,colour,answer,trusted", rows), label_column="answer")
    assert source.trusted.ids.tolist() == [0, 1, 2, 3, 4, 5]
    assert source.trusted.inputs.shape[1] == 3
    assert not set(source.trusted.ids) & {*source.train.ids, *source.test.ids}


def test_blanks_around_names_and_cells_and_trusted_as_pandas_writes_it(tmp_path):
    rows = [[a, c, y, "1.0" if i < 6 else ""] for i, (a, c, y) in enumerate(people())]
    tidy = load(write(tmp_path, "age,colour,label,trusted", rows))
    padded = [[f" {a}", f"{c} " if i % 3 else c, y, t] for i, (a, c, y, t) in enumerate(rows)]
    odd = load(write(tmp_path, "age, colour, label,trusted ", padded))
    assert odd.trusted.ids.tolist() == [0, 1, 2, 3, 4, 5]
    np.testing.assert_array_equal(odd.train.inputs, tidy.train.inputs)


def test_a_constant_column_is_zero_not_nan(tmp_path):
    source = load(write(tmp_path, "c,age,label", [[5, *row[::2]] for row in people()]))
    assert (source.train.inputs[:, 0] == 0).all()


@pytest.mark.parametrize(
    ("header", "row", "sentence"),
    [
        ("age,colour,answer", None, "has no label column 'label' .it has age, colour, answer"),
        ("age,colour,label", ["inf", "red", "yes"], "column 'age' has 'inf' in data row 41"),
        ("age,colour,label", [1, "red", ""], "data row 41 has no label"),
        ("age,split,label", None, "split is 'blue'; expected 'train' or 'test'"),
        ("age,trusted,label", None, "trusted is 'blue'; expected true or false"),
    ],
)
def test_bad_tables_get_one_sentence(tmp_path, header, row, sentence):
    with pytest.raises(DataError, match=sentence):
        load(write(tmp_path, header, [*people(), *([row] if row else [])]))


def test_empty_cells_stand_at_the_mean_and_are_told(tmp_path):
    rows = [["" if i % 4 == 0 else i, row[0], row[-1]] for i, row in enumerate(people())]
    source = load(write(tmp_path, "age,size,label", rows))
    inputs = np.concatenate([source.train.inputs, source.test.inputs])
    ids = np.concatenate([source.train.ids, source.test.ids])
    assert inputs.shape[1] == 3
    np.testing.assert_array_equal(inputs[:, 1], ids % 4 == 0)
    assert (inputs[ids % 4 == 0, 0] == 0).all()
    assert abs(float(source.train.inputs[source.train.ids % 4 != 0, 0].mean())) < 1e-6


def test_columns_that_are_no_features(tmp_path):
    path = write(
        tmp_path, "age,key,label", [[row[0], f"k{i}", row[-1]] for i, row in enumerate(people())]
    )
    assert load(path, ignore=("key",)).train.inputs.shape[1] == 1
    with pytest.raises(DataError, match="no column 'keys' to ignore"):
        load(path, ignore=("keys",))


@pytest.mark.parametrize(
    ("header", "named"), [("id", None), ("ID", None), ("key", "key"), ("split_id", "split_id")]
)
def test_the_column_that_names_the_rows_is_no_feature(tmp_path, header, named):
    rows = [[f"k{i}", row[0], row[-1]] for i, row in enumerate(people())]
    source = load(write(tmp_path, f"{header},age,label", rows), id_column=named)
    assert source.id_column == header
    assert source.train.inputs.shape[1] == 1
    assert source.train.names.tolist() == [f"k{i}" for i in source.train.ids]


def test_beside_another_name_of_the_rows_a_column_called_id_is_still_no_feature(tmp_path):
    rows = [[f"k{i}", i // 2, row[0], row[-1]] for i, row in enumerate(people())]
    path = write(tmp_path, "key,Id,age,label", rows)
    assert load(path, id_column="key").train.inputs.shape[1] == 1
    with pytest.raises(DataError, match=r"different rows of one Id .20 such ids, '0' the first"):
        load(path)
    with pytest.raises(DataError, match=r"no column 'keys' to name its rows .it has key, Id, age"):
        load(path, id_column="keys")


def test_more_bad_tables(tmp_path):
    with pytest.raises(DataError, match="at least two"):
        load(write(tmp_path, "x,label", [[i, "a"] for i in range(9)]))
    with pytest.raises(DataError, match="no column besides"):
        load(write(tmp_path, "label,split", [["a", "train"], ["b", "test"]]))
    with pytest.raises(DataError, match="both test and trusted"):
        load(write(tmp_path, "x,label,split,trusted", [[1, "a", "test", "true"]]))
    with pytest.raises(DataError, match="no training row"):
        load(write(tmp_path, "x,label,split", [[1, "a", "test"]]))
    rows = [[f"text{i}", "ab"[i % 2]] for i in range(200)]
    with pytest.raises(DataError, match=r"of 'name' .160 distinct texts, such as 'text0'"):
        load(write(tmp_path, "name,label", rows))


def test_all_columns_that_are_no_features_are_told_with_the_whole_flag(tmp_path):
    names = ["gone", "my note", *(f"k{j}" for j in range(6))]
    rows = [["", *(f"{n}{i}" for n in names[1:]), "x", i % 7, "ab"[i % 2]] for i in range(200)]
    path = write(tmp_path, ",".join([*names, "old", "age", "label"]), rows)
    with pytest.raises(DataError) as refused:
        load(path, ignore=("old", "k5"))
    told = str(refused.value)
    assert "of 'gone' (empty in all training rows), 'my note' (160 distinct texts" in told
    assert "and 2 more columns" in told
    (flag,) = re.findall(r"\((--set .*)\), name", told)
    text = shlex.split(flag)[1].removeprefix("data.ignore=")
    assert text == "old,k5,gone,my note,k0,k1,k2,k3,k4"
    assert load(path, ignore=tuple(text.split(","))).train.inputs.shape[1] == 1


def test_parquet_gives_what_csv_gives(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = dict(
        zip(("age", "colour", "label"), map(list, zip(*people(), strict=True)), strict=True)
    )
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    ours = load(write(tmp_path, "age,colour,label", people()))
    theirs = load(str(tmp_path / "t.parquet"))
    np.testing.assert_array_equal(ours.train.inputs, theirs.train.inputs)
    np.testing.assert_array_equal(ours.train.labels, theirs.train.labels)


def test_a_missing_pyarrow_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"reweigh\[tables\]"):
        load(str(tmp_path / "t.parquet"))


def test_whole_numbers_that_are_one_float_are_two_keys_and_no_copies(tmp_path):
    key = 10**18
    rows = [[key + 50 * i, i % 3, "yes" if i % 2 else "no"] for i in range(40)]
    source = load(write(tmp_path, "key,size,label", rows))
    assert [reading.name for reading in source.readings if reading.key] == ["key"]
    assert np.bincount(source.test.labels).tolist() == [4, 4]  # copies would stay together


def test_labels_that_are_no_classes_are_told(tmp_path):
    rows = [[i % 7, i + 0.5] for i in range(20)]
    with pytest.raises(DataError, match=r"20 samples have 20 labels and 7 different inputs; are"):
        load(write(tmp_path, "a,label", rows))
