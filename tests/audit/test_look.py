"""Which student sees what: the best one judges, the last one stands beside the last weights."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file, save_file
from tests.audit.made_up import finished_run

from reweigh.audit import look
from reweigh.audit.look import Look
from reweigh.audit.run import audit_run


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    return finished_run(tmp_path_factory.mktemp("runs") / "deep")


def spoiled(run: Path, folder: Path, name: str) -> Look:
    """What is seen when one of the two students has forgotten everything."""
    shutil.copytree(run, folder)
    state = load_file(folder / name)
    save_file({key: value * 0 for key, value in state.items()}, folder / name)
    return audit_run(folder).look


def test_the_best_student_judges(run: Path, tmp_path: Path) -> None:
    whole, blind = audit_run(run).look, spoiled(run, tmp_path / "copy", "best.safetensors")
    np.testing.assert_allclose(blind.probabilities, 0.1, rtol=1e-5)
    np.testing.assert_array_equal(whole.losses, blind.losses)
    np.testing.assert_array_equal(whole.states, blind.states)


def test_loss_and_states_beside_the_weights_are_the_last_students(
    run: Path, tmp_path: Path
) -> None:
    whole, blind = audit_run(run).look, spoiled(run, tmp_path / "copy", "model.safetensors")
    np.testing.assert_allclose(blind.losses, np.log(10), rtol=1e-5)
    assert not blind.states.any()
    np.testing.assert_array_equal(whole.probabilities, blind.probabilities)


def test_the_last_student_sees_no_more_than_is_shown(run: Path, monkeypatch) -> None:
    logits, sizes = look._logits, []

    def counted(task, positions):
        sizes.append(len(positions))
        return logits(task, positions)

    monkeypatch.setattr(look, "_logits", counted)
    monkeypatch.setattr(look.look, "__defaults__", (20,))
    seen = audit_run(run).look
    assert sizes == [len(seen.probabilities), 20]
    assert len(seen.shown) == len(seen.losses) == len(seen.states) == 20


def test_a_class_is_known_if_some_of_its_trusted_samples_are_found() -> None:
    trusted = np.array([0] * 20 + [1] * 20)  # nobody vouches for 2 and 3
    answers = np.array([0] * 20 + [1] * 2 + [0] * 18)  # two of twenty are hardly any
    p = np.eye(4, dtype=np.float32)[[0, 0, 1, 2]]  # 3 is never said
    assert look.known_classes(trusted, answers, p).tolist() == [True, False, True, False]
