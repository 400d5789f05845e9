import json

import numpy as np
import pytest

from reweigh.data.prepare import DataSpec, prepare
from reweigh.data.table_reading import read_cells
from reweigh.errors import DataError, UsageError

from .files import fashion, npz


@pytest.fixture
def folder(tmp_path):
    fashion(tmp_path / "fashion-mnist")
    return tmp_path


def problem(folder, **choices):
    return prepare(DataSpec(data="fashion-mnist", data_dir=folder, **choices))


def test_parts_are_disjoint_and_the_record_is_json(folder):
    p = problem(folder, noise="flip:0.4", trusted_per_class=2)
    parts = [set(part.content_hashes()) for part in (p.train, p.trusted, p.test)]
    assert sum(map(len, parts)) == len(set.union(*parts)) == 120 + 30
    record = json.loads(json.dumps(p.record))
    assert record["counts"] == {"train": 100, "trusted": 20, "test": 30}
    assert record["noise"]["changed"] == np.mean(p.train.labels != p.true_labels)
    assert 0.2 < record["noise"]["changed"] < 0.6


def test_the_trusted_split_depends_on_the_seed_alone(folder):
    first = problem(folder, trusted_per_class=2)
    for choices in ({"noise": "uniform:0.6"}, {"imbalance": 10}, {"train_limit": 50}):
        other = problem(folder, trusted_per_class=2, **choices)
        np.testing.assert_array_equal(other.trusted.ids, first.trusted.ids)
        np.testing.assert_array_equal(other.trusted.labels, first.trusted.labels)
    assert (
        problem(folder, trusted_per_class=2, seed=1).trusted.ids.tolist()
        != first.trusted.ids.tolist()
    )


def test_equal_specs_give_equal_problems_and_any_change_shows(folder):
    specs = [{}, {"seed": 1}, {"noise": "flip:0.2"}, {"noise": "flip:0.4"}, {"train_limit": 40},
             {"test_limit": 10}, {"imbalance": 3.0}]  # fmt: skip
    prints = [problem(folder, **spec).record["fingerprint"] for spec in specs]
    assert len(set(prints)) == len(specs)
    assert [problem(folder, **spec).record["fingerprint"] for spec in specs] == prints


def test_noise_of_a_subset_is_that_of_the_whole(folder):
    whole = problem(folder, noise="uniform:0.5")
    part = problem(folder, noise="uniform:0.5", train_limit=40)
    noisy = dict(zip(whole.train.ids, whole.train.labels, strict=True))
    assert [noisy[i] for i in part.train.ids] == part.train.labels.tolist()


def test_limits_keep_proportions_and_the_test_subset_ignores_the_seed(folder):
    p, q = (problem(folder, train_limit=50, test_limit=20, seed=s) for s in (0, 1))
    assert p.record["per_class"]["train"] == [5] * 10
    assert p.record["per_class"]["test"] == [2] * 10
    np.testing.assert_array_equal(p.test.ids, q.test.ids)
    assert p.train.ids.tolist() != q.train.ids.tolist()


def test_true_labels_are_known_only_when_somebody_knows(folder, tmp_path):
    labels = tmp_path / "labels.txt"
    labels.write_text("\n".join(["3"] * 120))
    assert problem(folder).true_labels is None
    assert problem(folder, labels=labels).true_labels is None
    p = problem(folder, labels=labels, true_labels="original")
    assert set(p.train.labels) == {3}
    np.testing.assert_array_equal(p.true_labels, p.train.ids % 10)
    np.testing.assert_array_equal(p.trusted.labels, p.trusted.ids % 10)  # the data's own
    planted = problem(folder, labels=labels, noise="uniform:0.9")
    assert set(planted.true_labels) == {3}


def test_copies_of_official_test_samples_leave_train_and_are_counted(folder):
    from .files import idx_gz, rows

    labels = np.tile(np.arange(10, dtype=np.uint8), 12)
    images = rows(labels, 16, 1).reshape(-1, 4, 4)
    images[[5, 8]] = rows(labels[:30], 16, 2).reshape(-1, 4, 4)[0]  # the first test image
    images[20:120:10] = images[30]  # ten copies in class 0
    idx_gz(folder / "fashion-mnist" / "train-images-idx3-ubyte.gz", images)
    p = problem(folder, trusted_per_class=11 - 9)
    assert p.record["copies_of_test_dropped"] == 2
    assert not {5, 8} & {*p.train.ids, *p.trusted.ids}
    assert not set(p.train.content_hashes()) & set(p.trusted.content_hashes())
    total = p.record["counts"]["train"] + 20 + p.record["copies_of_trusted_dropped"]
    assert total == 118


def test_a_leak_in_given_parts_is_an_error(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 3))
    path = npz(
        tmp_path / "d.npz", x_train=x, x_test=np.concatenate([x[:2], rng.normal(size=(18, 3))])
    )
    with pytest.raises(DataError, match=r"2 of 40 train samples also occur in the test set"):
        prepare(DataSpec(data=str(path)))


def test_data_of_nothing_but_copies_is_refused(tmp_path):
    rows = "".join(f"{c},{c}\n" for c in (0, 1) for _ in range(20))
    (tmp_path / "t.csv").write_text("x,label\n" + rows)
    with pytest.raises(DataError, match="40 samples have 2 labels and 2 different inputs"):
        prepare(DataSpec(data=str(tmp_path / "t.csv")))
    more = "".join(f"{i % 3}.{i % 2},{i % 2}\n" for i in range(60))
    (tmp_path / "t.csv").write_text("x,label\n" + more)
    with pytest.raises(DataError, match="has no training sample left beside its 15 trusted ones"):
        prepare(DataSpec(data=str(tmp_path / "t.csv"), trusted_per_class=15))


def test_samples_that_are_all_trusted_leave_nothing_to_train_or_test_on(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,x,label\n" + "".join(f"r{i},{i / 7},{i % 2}\n" for i in range(60)))
    with pytest.raises(DataError, match=r"^Every sample is trusted; none is left to train on"):
        prepare(DataSpec(data=str(path), trusted=path))
    held_out = prepare(DataSpec(data=str(path))).test.names
    (tmp_path / "sure.txt").write_text("\n".join(held_out))
    with pytest.raises(DataError, match=r"held out for testing is trusted.*\(data\.test\)"):
        prepare(DataSpec(data=str(path), trusted=tmp_path / "sure.txt"))


@pytest.mark.parametrize(
    "choices",
    [{"noise": "uniform:2"}, {"train_limit": 0}, {"test_limit": -1}, {"seed": -1},
     {"true_labels": "original"}],
)  # fmt: skip
def test_bad_specs_are_usage_errors_before_anything_is_read(choices):
    with pytest.raises(UsageError):
        DataSpec(data="digits", **choices)


def test_dropped_samples_are_gone_and_the_others_are_as_they_were(folder, tmp_path):
    whole = problem(folder, noise="flip:0.4", trusted_per_class=2)
    gone = whole.train.ids[::3]
    (tmp_path / "drop.csv").write_text("id\n" + "".join(f"{i}\n" for i in gone))
    part = problem(folder, noise="flip:0.4", trusted_per_class=2, drop=tmp_path / "drop.csv")
    left = ~np.isin(whole.train.ids, gone)
    np.testing.assert_array_equal(part.train.ids, whole.train.ids[left])
    np.testing.assert_array_equal(part.train.labels, whole.train.labels[left])
    np.testing.assert_array_equal(part.true_labels, whole.true_labels[left])
    np.testing.assert_array_equal(part.trusted.ids, whole.trusted.ids)
    assert part.record["drop"] == str(tmp_path / "drop.csv")


def test_dropping_everything_is_refused(folder, tmp_path):
    (tmp_path / "drop.txt").write_text("".join(f"{i}\n" for i in range(120)))
    with pytest.raises(DataError, match="drops all 110 training samples"):
        problem(folder, drop=tmp_path / "drop.txt")


def test_files_beside_the_data_are_read_once_and_told_of_once(tmp_path, monkeypatch):
    rows = [f"r{i},{i / 7},{'ab'[i % 2]}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["id,x,label", *rows]))
    files = {"labels": range(60), "trusted": range(10), "test": range(10, 20), "drop": [30, 31]}
    for name, some in files.items():
        lines = [f"r{i};{'ab'[i % 2]}" for i in some]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id;label", *lines]))
    read = []

    def noted(path):
        read.append(path.stem)
        return read_cells(path)

    monkeypatch.setattr("reweigh.data.columns.read_cells", noted)
    given = {name: tmp_path / f"{name}.csv" for name in files}
    p = prepare(DataSpec(data=str(tmp_path / "t.csv"), **given))
    assert p.record["counts"] == {"train": 38, "trusted": 10, "test": 10}
    assert sorted(read) == sorted(["t", *files])
    for name in files:
        assert p.cautions.count(f"{name}.csv is read as separated by ';'") == 1
