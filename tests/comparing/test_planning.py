import json

import pytest
from tests.methods.blobs import problem
from tests.training.small import settings

from reweigh.comparing.compare import compare
from reweigh.comparing.planning import plan
from reweigh.errors import UsageError
from reweigh.training import run
from reweigh.training.progress import SilentProgress


@pytest.fixture(autouse=True)
def _tiny_problem(monkeypatch) -> None:
    monkeypatch.setattr(run, "prepared", lambda spec: problem(known=False))


def test_every_row_is_built_and_what_cannot_be_is_told(tmp_path) -> None:
    rows = [
        (name, settings(f"method.name={name}", f"seed={seed}"))
        for name in ("uniform", "perfect-weights", "deep")
        for seed in (3, 4)
    ]
    found = plan(rows, tmp_path)
    plain, perfect, deep = found.rows
    assert plain.seeds == [3, 4]
    assert len(set(plain.run_ids + deep.run_ids)) == 4
    assert plain.seconds is not None
    assert plain.seconds > 0
    assert deep.why == ""
    assert perfect.seconds is None
    assert "needs the true labels" in perfect.why
    assert not found.possible
    assert plan(rows[:2], tmp_path).possible
    json.dumps(found.outcome(), allow_nan=False)
    assert found.table().row_count == 3


def test_where_no_row_can_be_run_the_reason_is_the_error(tmp_path) -> None:
    with pytest.raises(UsageError, match="needs the true labels"):
        plan([("clean-labels", settings("method.name=clean-labels"))], tmp_path)


def test_what_is_finished_is_told_and_takes_no_time(tmp_path) -> None:
    rows = [("uniform", settings("method.name=uniform", f"seed={seed}")) for seed in (3, 4)]
    (before,) = plan(rows, tmp_path).rows
    compare(rows[:1], tmp_path, SilentProgress())
    (row,) = plan(rows, tmp_path).rows
    assert (before.done, row.done) == ([], [3])
    assert len(plan(rows, tmp_path).table().columns) == 5
    assert len(plan(rows, tmp_path / "elsewhere").table().columns) == 4
    compare(rows, tmp_path, SilentProgress())
    (row,) = plan(rows, tmp_path).rows
    assert row.done == [3, 4]
    assert row.seconds == 0
    assert row.cells()["done"] == "3, 4"
