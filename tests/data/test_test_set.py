"""A test set of one's own, from a file of ids and right labels."""

from pathlib import Path

import numpy as np
import pytest

from reweigh.data.prepare import DataSpec, prepare
from reweigh.data.samples import Problem
from reweigh.errors import DataError, UsageError

from .files import npz


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Rows of which the last equals the first."""
    rows = [f"r{i},{i % 149 / 7},{'abc'[i % 3]}" for i in range(150)]
    (tmp_path / "t.csv").write_text("\n".join(["id,x,label", *rows]))
    (tmp_path / "sure.txt").write_text("\n".join(f"r{i}" for i in range(30, 60)))
    return tmp_path / "t.csv"


def on_test_of(data: Path, lines: list[str], name: str = "test.csv", **more) -> Problem:
    file = data.with_name(name)
    file.write_text("\n".join(lines))
    return prepare(DataSpec(data=str(data), test=file, **more))


RIGHT = ["id,label", *(f"r{i},{'abc'[(i + 1) % 3]}" for i in range(29, -1, -1))]


def test_its_samples_are_the_test_set_under_their_right_labels(table: Path) -> None:
    found = on_test_of(table, RIGHT, trusted=table.with_name("sure.txt"))
    assert found.test.names.tolist() == [f"r{i}" for i in range(29, -1, -1)]
    np.testing.assert_array_equal(found.test.labels, (found.test.ids + 1) % 3)
    assert found.train.ids.tolist() == list(range(60, 149))  # without the copy of r0
    assert found.record["copies_of_test_dropped"] == 1
    assert found.record["split"] == "listed"
    assert found.cautions == ()


def test_columns_are_standardised_by_the_rows_that_are_trained_on(table: Path) -> None:
    found = on_test_of(table, RIGHT, trusted=table.with_name("sure.txt"))
    (column,) = found.encoding.columns
    rows = np.arange(30, 150)
    assert column.mean == pytest.approx((rows % 149 / 7).mean())
    np.testing.assert_allclose(
        found.test.inputs[:, 0], (found.test.ids / 7 - column.mean) / column.scale, rtol=1e-5
    )


def test_trusted_rows_of_the_table_are_standardised_like_the_others(table: Path) -> None:
    rows = [f"r{i},{i % 149 / 7},{'abc'[i % 3]},{int(30 <= i < 60)}" for i in range(150)]
    table.write_text("\n".join(["id,x,label,trusted", *rows]))
    found = on_test_of(table, RIGHT)
    (column,) = found.encoding.columns
    assert found.trusted.ids.tolist() == list(range(30, 60))
    np.testing.assert_allclose(
        found.trusted.inputs[:, 0], (found.trusted.ids / 7 - column.mean) / column.scale, rtol=1e-5
    )


def test_ids_alone_say_that_the_labels_are_right(table: Path) -> None:
    found = on_test_of(table, ["r3", "r4", "r5"], "t.txt", trusted_per_class=5)
    assert found.test.labels.tolist() == [0, 1, 2]
    assert not any("test set" in word for word in found.cautions)


def test_files_of_labels_do_not_change_it(table: Path) -> None:
    table.with_name("l.csv").write_text("id,label\nr3,b\nr70,b\n")
    more = {"trusted": table.with_name("sure.txt"), "labels": table.with_name("l.csv")}
    found = on_test_of(table, RIGHT, **more)
    np.testing.assert_array_equal(found.test.labels, (found.test.ids + 1) % 3)
    assert any("name test samples and were not used" in word for word in found.cautions)


def test_one_file_of_all_rows_may_have_labels_for_some(table: Path) -> None:
    lines = [f"r{i},{'a' if i < 30 else ''}" for i in range(150)]
    sure = table.with_name("sure.csv")
    sure.write_text(
        "\n".join(["id,label", *(f"r{i},{'a' if 60 <= i < 70 else ''}" for i in range(150))])
    )
    found = on_test_of(table, ["id,label", *lines], trusted=sure)
    assert found.test.ids.tolist() == list(range(30))
    assert found.trusted.ids.tolist() == list(range(60, 70))


def test_what_is_trusted_cannot_test(table: Path) -> None:
    lines = [*RIGHT, "r30,a", "r31,b"]
    with pytest.raises(DataError, match=r"both name 'r30' .2 such samples.; what is learned from"):
        on_test_of(table, lines, trusted=table.with_name("sure.txt"))
    rows = [f"r{i},{i / 7},{'abc'[i % 3]},{i < 30}" for i in range(150)]
    table.write_text("\n".join(["id,x,label,trusted", *rows]))
    with pytest.raises(DataError, match="names 'r3', which is a trusted sample"):
        on_test_of(table, ["r3"], "t.txt")


def test_wrong_requests(table: Path) -> None:
    with pytest.raises(DataError, match="names every sample; none is left to train on"):
        on_test_of(table, [f"r{i}" for i in range(150)], "t.txt")
    with pytest.raises(UsageError, match=r"t\.npz ends in '\.npz'; expected"):
        on_test_of(table, ["r3"], "t.npz")
    with pytest.raises(
        UsageError, match=r"data\.test is .*the data says itself which samples test"
    ):
        on_test_of(npz(table.with_name("d.npz")), ["3"], "t.txt")
    with pytest.raises(UsageError, match=r"data\.test is 'no\.csv', and there is no such file"):
        prepare(DataSpec(data=str(table), test=Path("no.csv")))


def test_built_in_images_that_we_split(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("\n".join(map(str, range(100))))
    found = prepare(DataSpec(data="digits", test=tmp_path / "t.txt"))
    assert found.test.ids.tolist() == list(range(100))
    assert 0 not in found.train.ids
