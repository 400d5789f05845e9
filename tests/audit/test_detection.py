import numpy as np
import pytest

from reweigh.audit.detection import detection


def test_a_perfect_audit_scores_one() -> None:
    wrong = np.array([True, False, False])
    found = detection(wrong, np.array([0.1, 0.8, 0.9], np.float32), wrong)
    assert found is not None
    assert [found[k] for k in ("auroc", "average_precision", "f1")] == [1, 1, pytest.approx(1)]


def test_low_quality_is_what_counts_as_found() -> None:
    found = detection(
        np.array([True, False]), np.array([0.9, 0.1], np.float32), np.array([False, True])
    )
    assert found is not None
    assert (found["auroc"], found["f1"]) == (0, 0)


def test_nothing_to_find_has_no_score() -> None:
    assert detection(np.zeros(3, bool), np.ones(3, np.float32), np.zeros(3, bool)) is None
