from pathlib import Path

import pytest
from tests.methods.blobs import problem
from tests.training.small import settings

from reweigh.training import run
from reweigh.training.rehearsal import rehearse


@pytest.mark.parametrize("name", ["uniform", "deep", "l2t-data"])
def test_a_rehearsal_writes_nothing(tmp_path: Path, monkeypatch, name: str) -> None:
    monkeypatch.setattr(run, "prepared", lambda config: problem())
    monkeypatch.chdir(tmp_path)
    found = rehearse(settings(f"method.name={name}"))
    assert list(tmp_path.iterdir()) == []
    assert found.samples["train"] >= 40  # a method may mix trusted samples in
    assert (found.samples["trusted"], found.samples["test"]) == (12, 20)
    assert found.steps == 5
    assert found.seconds_per_step > 0
    assert "dry run" in str(found.table().title)
