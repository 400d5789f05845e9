import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.audit.made_up import finished_run

from reweigh.audit.run import audit_run
from reweigh.errors import CheckpointError, DataError, UsageError


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    return finished_run(tmp_path_factory.mktemp("runs") / "deep", "training.epochs=4")


def test_an_audit_covers_the_doubtful_samples_only(run: Path) -> None:
    """The default method trains on trusted samples too; those are not in doubt."""
    audit = audit_run(run)
    assert len(audit.samples) == 96
    assert audit.detection is not None
    assert audit.detection["auroc"] > 0.5
    assert np.isfinite(audit.weight).any()
    assert sum(row["issues"] for row in audit.class_rows()) == audit.summary()["issues"]


def test_the_same_run_gives_the_same_audit_and_no_random_number_is_drawn(run: Path) -> None:
    before = torch.get_rng_state()
    first, again = audit_run(run), audit_run(run)
    np.testing.assert_array_equal(first.quality, again.quality)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("method", ["uniform", "trusted-only"])
def test_a_run_without_weights_is_audited_by_its_predictions(method: str, tmp_path: Path) -> None:
    audit = audit_run(finished_run(tmp_path / "run", f"method.name={method}"))
    assert len(audit.samples) == 96
    assert np.isnan(audit.weight).all()


def test_a_run_of_before_trusted_samples_were_marked_is_audited(run: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(run, tmp_path / "copy"))
    with np.load(copy / "samples.npz") as stored:
        np.savez(copy / "samples.npz", **{k: v for k, v in stored.items() if k != "trusted"})
    np.testing.assert_array_equal(audit_run(copy).quality, audit_run(run).quality)


def test_a_long_tail_among_balanced_trusted_samples_is_cautioned_of(
    run: Path, tmp_path: Path
) -> None:
    tail = ("data.train_limit=600", "data.imbalance=30", "data.noise=none")
    words = audit_run(finished_run(tmp_path / "run", *tail)).cautions
    assert any("right labels of common classes may be flagged" in word for word in words)
    assert not any("common classes" in word for word in audit_run(run).cautions)


def test_a_student_that_hardly_learned_is_cautioned_of(run: Path) -> None:
    few, wrong = audit_run(run).cautions[-2:]
    assert "the teacher learns only" in few
    assert "train for 20 epochs or more" in few
    assert "itself gets" in wrong
    assert few in (run / "log.txt").read_text()


def test_data_that_changed_is_refused(run: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(run, tmp_path / "copy"))
    config = (copy / "config.toml").read_text()
    (copy / "config.toml").write_text(config.replace("flip:0.4", "flip:0.2"))
    with pytest.raises(DataError, match="no longer gives"):
        audit_run(copy)


def test_data_of_which_nobody_knows_whether_it_changed_is_refused(
    run: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(run, tmp_path / "copy"))
    result = json.loads((copy / "result.json").read_text())
    (copy / "result.json").write_text(json.dumps(result | {"fingerprint": ""}))
    with pytest.raises(DataError, match="no longer gives"):
        audit_run(copy)


def test_a_student_that_does_not_fit_is_refused(run: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(run, tmp_path / "copy"))
    config = (copy / "config.toml").read_text()
    (copy / "config.toml").write_text(config.replace("[\n    8,\n]", "[9]"))
    with pytest.raises(CheckpointError, match="does not fit"):
        audit_run(copy)


def test_what_is_no_finished_run_is_refused(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no config\.toml"):
        audit_run(tmp_path)
    copy = Path(shutil.copytree(run, tmp_path / "copy"))
    (copy / "result.json").unlink()
    with pytest.raises(UsageError, match="has not finished"):
        audit_run(copy)
