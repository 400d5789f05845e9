"""Labels of a file that name test or trusted samples."""

from pathlib import Path

import numpy as np
import pytest

from reweigh.data.prepare import DataSpec, prepare
from reweigh.data.samples import Problem

from .files import npz


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [f"r{i},{i / 7},{'abc'[i % 3]}" for i in range(150)]
    (tmp_path / "t.csv").write_text("\n".join(["id,x,label", *rows]))
    (tmp_path / "sure.txt").write_text("\n".join(f"r{i}" for i in range(30)))
    return tmp_path / "t.csv"


def with_labels(data: Path, lines: list[str], **more) -> Problem:
    labels = data.with_name("l.csv")
    labels.write_text("\n".join(["id,label", *lines]))
    return prepare(DataSpec(data=str(data), **more, labels=labels))


def said(problem: Problem) -> list[str]:
    return [word for word in problem.cautions if "l.csv" in word]


def test_corrected_labels_reach_the_test_set_that_we_split_off(table: Path) -> None:
    sure = {"trusted": table.with_name("sure.txt")}
    before = prepare(DataSpec(data=str(table), **sure))
    parts = (before.train, before.test)
    lines = [f"{part.names[4]},{'abc'[(part.labels[4] + 1) % 3]}" for part in parts]
    after = with_labels(table, lines, **sure)
    for old, new in zip(parts, (after.train, after.test), strict=True):
        np.testing.assert_array_equal(new.ids, old.ids)
        assert np.flatnonzero(new.labels != old.labels).tolist() == [4]
        assert new.labels[4] == (old.labels[4] + 1) % 3
    assert said(after) == []
    assert after.record["fingerprint"] != before.record["fingerprint"]


def test_a_file_with_a_label_for_every_row_leaves_the_test_set_alone(table: Path) -> None:
    (table.with_name("l.txt")).write_text("a\n" * 150)
    found = prepare(DataSpec(data=str(table), labels=table.with_name("l.txt")))
    assert set(found.train.labels) == {0}
    assert set(found.test.labels) == {0, 1, 2}


def test_the_truth_stays_in_the_test_set(table: Path) -> None:
    noisy = [f"r{i},a" for i in range(150)]
    found = with_labels(table, noisy, true_labels="original", trusted_per_class=6)
    assert set(found.train.labels) == {0}
    assert set(found.test.labels) == set(found.trusted.labels) == {0, 1, 2}
    assert said(found) == []


def test_trusted_labels_stand_and_others_than_they_are_told(table: Path) -> None:
    sure = {"trusted": table.with_name("sure.txt")}
    same = with_labels(table, ["r3,a", "r4,b"], **sure)
    assert said(same) == []
    other = with_labels(table, ["r3,b", "r4,b", "r40,a"], **sure)
    (word,) = said(other)
    assert word.startswith("1 of 3 labels of")
    assert word.endswith("differ from those of trusted samples, which stand: r3")
    np.testing.assert_array_equal(other.trusted.labels, same.trusted.labels)


def test_labels_of_a_test_set_that_was_given_are_not_used_and_told(tmp_path: Path) -> None:
    parts = ["test" if i % 5 == 0 else "train" for i in range(150)]
    rows = [f"r{i},{i / 7},{'abc'[i % 3]},{part}" for i, part in enumerate(parts)]
    (tmp_path / "t.csv").write_text("\n".join(["id,x,label,split", *rows]))
    found = with_labels(tmp_path / "t.csv", ["r0,b", "r5,a", "r6,a"], trusted_per_class=6)
    np.testing.assert_array_equal(found.test.labels, found.test.ids % 3)
    (word,) = said(found)
    assert word.startswith("2 of 3 labels of")
    assert word.endswith("name test samples and were not used")


def test_numbers_of_parts_that_were_read_apart_are_of_training_samples(tmp_path: Path) -> None:
    data = npz(tmp_path / "d.npz", num_classes=3, n=60)
    sure = {"x_trusted": np.full((3, 3), [[8], [9], [10]]), "y_trusted": [0, 1, 2]}
    np.savez(tmp_path / "sure.npz", **sure)
    found = with_labels(data, ["0,1", "1,2", "2,0"], trusted=tmp_path / "sure.npz")
    assert found.train.labels[:3].tolist() == [1, 2, 0]
    assert said(found) == []
