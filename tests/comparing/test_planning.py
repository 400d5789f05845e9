import json

import pytest
from tests.methods.blobs import problem
from tests.training.small import settings

from reweigh.comparing.planning import plan
from reweigh.errors import UsageError
from reweigh.training import run


@pytest.fixture(autouse=True)
def _tiny_problem(monkeypatch) -> None:
    monkeypatch.setattr(run, "prepared", lambda spec: problem(known=False))


def test_every_row_is_built_and_what_cannot_be_is_told() -> None:
    rows = [
        (name, settings(f"method.name={name}", f"seed={seed}"))
        for name in ("uniform", "perfect-weights", "deep")
        for seed in (3, 4)
    ]
    found = plan(rows)
    plain, perfect, deep = found.rows
    assert plain.seeds == [3, 4]
    assert len(set(plain.run_ids + deep.run_ids)) == 4
    assert plain.seconds is not None
    assert plain.seconds > 0
    assert deep.why == ""
    assert perfect.seconds is None
    assert "needs the true labels" in perfect.why
    assert not found.possible
    assert plan(rows[:2]).possible
    json.dumps(found.outcome(), allow_nan=False)
    assert found.table().row_count == 3


def test_where_no_row_can_be_run_the_reason_is_the_error() -> None:
    with pytest.raises(UsageError, match="needs the true labels"):
        plan([("clean-labels", settings("method.name=clean-labels"))])
