"""What is said of labels that nobody vouches for."""

from pathlib import Path

import numpy as np
import pytest

from reweigh.data.prepare import DataSpec, prepare


@pytest.fixture
def arrays(tmp_path: Path) -> Path:
    draw = np.random.default_rng(0)
    parts = {}
    for part, n in (("train", 120), ("test", 30)):
        parts[f"x_{part}"] = draw.normal(size=(n, 3))
        parts[f"y_{part}"] = np.arange(n) % 3
    np.savez(tmp_path / "a.npz", **parts)
    return tmp_path / "a.npz"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [f"r{i},{i / 7},{'abc'[i % 3]}" for i in range(150)]
    (tmp_path / "t.csv").write_text("\n".join(["id,x,label", *rows]))
    return tmp_path / "t.csv"


def test_trusted_samples_that_nobody_checked(arrays: Path) -> None:
    (word, _) = prepare(DataSpec(data=str(arrays))).cautions
    assert word.startswith("no trusted set was given, so 12 samples")
    for given in ({"trusted_per_class": 6}, {"noise": "flip:0.2", "trusted_per_class": 6}):
        assert prepare(DataSpec(data=str(arrays), **given)).cautions == ()


def test_rows_that_equal_trusted_ones_are_counted_and_contradictions_named(tmp_path: Path) -> None:
    rows = [f"r{i},{i % 40},{'ab'[i % 2]}" for i in range(400)] + ["odd,7,a", "fine,7,b"]
    (tmp_path / "t.csv").write_text("\n".join(["id,x,label", *rows]))
    trusted = [f"r{i}" for i in range(12)]
    (tmp_path / "sure.txt").write_text("\n".join(trusted))
    found = prepare(DataSpec(data=str(tmp_path / "t.csv"), trusted=tmp_path / "sure.txt"))
    word = next(one for one in found.cautions if "equal a trusted one" in one)
    assert word.startswith(f"{found.record['copies_of_trusted_dropped']:,} training samples equal")
    assert word.endswith(
        "1 of them have another label than it, so that one of the two is wrong: odd"
    )


def test_a_column_of_numbers_with_gaps_or_almost_of_numbers(tmp_path: Path) -> None:
    cells = ["NA" if i % 9 == 0 else str(i) for i in range(150)]
    rows = [f"{c},{i % 20 if i % 30 else 'ten'},{'abc'[i % 3]}" for i, c in enumerate(cells)]
    (tmp_path / "t.csv").write_text("\n".join(["age,size,label", *rows]))
    found = prepare(DataSpec(data=str(tmp_path / "t.csv"), trusted_per_class=6))
    age, size = found.encoding.columns
    assert (age.categories, age.gaps) == (None, True)
    assert len(size.categories) == 21
    assert any(
        "'size' is taken as 21 categories because of texts such as 'ten'" in w
        for w in found.cautions
    )


def test_texts_that_people_take_for_numbers_or_dates(tmp_path: Path) -> None:
    rows = [
        f'"{1 + i % 9},{100 + i % 9}.50",{i % 9}%,{1 + i % 9}.3.2023,{i % 9},{"ab"[i % 2]},{"abc"[i % 3]}'
        for i in range(90)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["price,share,day,size,kind,label", *rows]))
    words = prepare(DataSpec(data=str(tmp_path / "t.csv"), trusted_per_class=6)).cautions
    told = [word for word in words if "categories because of" in word]
    assert len(told) == 3
    assert "'price' is taken as 9 categories because of texts such as '1,100.50'" in told[0]
    assert "where it is meant as a number, write 1234.5" in told[1]
    assert "'1.3.2023': where it is meant as a date, write 2023-03-17" in told[2]


def test_keys_among_the_features_are_told_with_the_whole_flag(tmp_path: Path) -> None:
    rows = [f"{i},{1000 - i},{i % 50},{i / 7},n{i},{'abc'[i % 3]}" for i in range(90)]
    (tmp_path / "t.csv").write_text("\n".join(["key,my nr,age,x,name,label", *rows]))
    spec = DataSpec(data=str(tmp_path / "t.csv"), trusted_per_class=6, ignore=("name",))
    (word,) = [word for word in prepare(spec).cautions if "of its own" in word]
    assert "in 'key', 'my nr': where" in word
    assert word.endswith("(--set 'data.ignore=name,key,my nr')")


def test_labels_that_are_typos_of_others(tmp_path: Path) -> None:
    odd = ["JA"] * 6 + ["nien"] * 6
    rows = [f"{i / 7},{label}" for i, label in enumerate(["ja", "nein"] * 200 + odd)]
    (tmp_path / "t.csv").write_text("\n".join(["x,label", *rows]))
    words = prepare(DataSpec(data=str(tmp_path / "t.csv"), noise="uniform:0.1")).cautions
    assert words[0] == (
        "classes 'JA' and 'ja' differ only in case or blanks; 'nien' (6 samples) resembles 'nein': "
        "where they are one class, write it in one way in the data"
    )


def test_few_trusted_samples_of_a_class_are_counted(arrays: Path, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("\n".join(str(3 * i) for i in range(8)))
    (word,) = prepare(DataSpec(data=str(arrays), trusted=tmp_path / "t.txt")).cautions
    assert word.startswith("the trusted set has only 0 of '1', 0 of '2'")


def test_a_test_set_of_labels_in_doubt(table: Path, tmp_path: Path) -> None:
    checked = tmp_path / "checked.csv"
    checked.write_text("\n".join(["id,label", *(f"r{i},{'abc'[i % 3]}" for i in range(30))]))
    (word,) = prepare(DataSpec(data=str(table), trusted=checked)).cautions
    assert word.startswith("the test set was split off the given labels")
    assert prepare(DataSpec(data="digits", noise="flip:0.4")).cautions == ()


def test_rows_are_named_by_their_id_which_is_no_feature(table: Path, tmp_path: Path) -> None:
    problem = prepare(DataSpec(data=str(table), trusted_per_class=5))
    assert problem.train.inputs.shape[1] == 1
    assert problem.train.names is not None
    assert problem.train.names[0] == f"r{problem.train.ids[0]}"
