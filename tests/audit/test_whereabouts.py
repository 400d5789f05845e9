"""A table of one's own: what is told beside the figures, and where it is looked for later."""

import csv
import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.audit.made_up import audited, finished_run

from reweigh.audit.run import audit_run
from reweigh.config import read_config
from reweigh.errors import DataError, UsageError
from reweigh.report.contents import read_report
from reweigh.report.reading import read_runs
from reweigh.report.write import render
from reweigh.training.tasks import _prepared
from reweigh.training.whereabouts import with_data_found

SETTINGS = ("data.name=t.csv", "data.noise=none", "data.trusted_per_class=5")


def write_table(path: Path, seed: int = 0) -> None:
    """Rows of two classes, in another order for another seed."""
    drawn = random.Random(0)
    rows = [[drawn.gauss(3 * (i % 2), 1), drawn.gauss(0, 1), "ab"[i % 2]] for i in range(120)]
    features = [row[:2] for row in rows]
    for label in "ab":  # among rows of one label, so that ids and labels stay
        own = [i for i, row in enumerate(rows) if row[2] == label]
        mixed = random.Random(seed).sample(own, len(own)) if seed else own
        for i, j in zip(own, mixed, strict=True):
            rows[i][:2] = features[j]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["x", "z", "label"], *rows])


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("place")
    write_table(place / "t.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        return finished_run(place / "first", *SETTINGS).resolve()


def test_cautions_stand_on_the_page_and_in_the_summary(home: Path) -> None:
    made = read_report([home])
    words, *_ = made.audit.summary()["cautions"]
    assert "test set was split off the given labels" in words
    assert "<strong>Caution:</strong> the test set was split off" in render(made)


def test_copies_are_named_and_numbered() -> None:
    made = audited()
    names = np.array([f"row {i}" for i in range(len(made.samples))])
    copies = [np.array([3, 5]), np.array([0, 7])]
    found = replace(made, samples=replace(made.samples, names=names), copies=copies)
    assert found.summary()["conflicting_copies"] == [["row 3", "row 5"], ["row 0", "row 7"]]
    assert found.copy_groups[:8].tolist() == [2, 0, 0, 1, 0, 1, 0, 2]


def test_relative_data_is_found_from_elsewhere_and_changed_rows_are_refused(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    audit_run(home)
    write_table(tmp_path / "t.csv", seed=1)  # what is here comes first
    _prepared.cache_clear()
    with pytest.raises(DataError, match="no longer gives the samples"):
        audit_run(home)


def test_a_noise_matrix_is_found_from_elsewhere(home: Path, tmp_path: Path) -> None:
    np.savetxt(home.parent / "C.csv", [[0.8, 0.2], [0.1, 0.9]], delimiter=",")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home.parent)
        planted = finished_run(
            home.parent / "planted", *SETTINGS[::2], "data.noise=matrix:C.csv"
        ).resolve()
        patch.chdir(tmp_path)
        _prepared.cache_clear()
        audit_run(planted)


@pytest.mark.parametrize("key", ["labels", "trusted", "test", "drop"])
def test_files_beside_the_data_are_found_from_elsewhere(
    key: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home.parent / "rows.csv").write_text("id\n3\n")
    monkeypatch.chdir(tmp_path)
    config = read_config(None, {}, [f"data.{key}=rows.csv"])
    found = getattr(with_data_found(config, home).data, key)
    assert found == str(home.parent / "rows.csv")


def test_a_page_does_not_tell_where_a_run_began(home: Path) -> None:
    assert json.loads((home / "env.json").read_text())["folder"] == str(home.parent)
    page = render(read_report([home]))
    assert f"folder&#34;: &#34;{home.parent}" not in page


def test_runs_with_other_trusted_samples_do_not_compare(home: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home.parent)
        other = finished_run(home.parent / "other", *SETTINGS[:2], "data.trusted_per_class=9")
        again = finished_run(home.parent / "again", *SETTINGS, "training.lr=0.01")
    with pytest.raises(UsageError, match=r"data\.trusted_per_class = 5 and other has 9"):
        read_runs([home, other])
    rows = {run.row for run in read_runs([home, again]).runs}
    assert rows == {"deep (first)", "deep (again)"}
