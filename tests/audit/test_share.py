"""The share of right labels by trusted samples, against worlds whose shares are known."""

import numpy as np
import pytest
from tests.audit.made_up import finished_run

from reweigh.audit.issues import judged, noise_matrix, wrong_per_class
from reweigh.audit.run import audit_run
from reweigh.audit.share import right_shares

K = 4


def answers(true: np.ndarray, sharpness: float, seed: int) -> np.ndarray:
    """Of a student that is often wrong; `sharpness` makes it too sure (above 1) or too unsure."""
    scores = np.random.default_rng(seed).normal(size=(len(true), K)) + 1.5 * np.eye(K)[true]
    p = np.exp(sharpness * scores)
    return (p / p.sum(axis=1, keepdims=True)).astype(np.float32)


def world(share: list[float], sharpness: float):
    """True and given labels and answers of 40,000 samples, and 4,000 trusted ones with theirs."""
    rng = np.random.default_rng(0)
    given = rng.integers(0, K, 40_000)
    right = rng.random(len(given)) < np.array(share)[given]
    true = np.where(right, given, (given + rng.integers(1, K, len(given))) % K)
    trusted = rng.integers(0, K, 4_000)
    return true, given, answers(true, sharpness, 1), trusted, answers(trusted, sharpness, 2)


def test_a_known_answer_on_paper() -> None:
    """Class 0: a = 0.8, b = 0.2, e = 0.5, so half of its labels are right; class 1: e = a."""
    trusted, sure = np.array([0, 1]), np.array([[0.8, 0.2], [0.2, 0.8]], np.float32)
    labels, p = np.array([0, 0, 1]), np.array([[0.6, 0.4], [0.4, 0.6], [0.2, 0.8]], np.float32)
    np.testing.assert_allclose(right_shares(labels, p, trusted, sure), [0.5, 1], atol=1e-6)


@pytest.mark.parametrize("sharpness", [0.3, 1.0, 3.0])
def test_it_is_found_however_sure_the_student_is(sharpness: float) -> None:
    share = [1.0, 0.8, 0.6, 0.3]
    _, given, p, trusted, sure = world(share, sharpness)
    np.testing.assert_allclose(right_shares(given, p, trusted, sure), share, atol=0.04)


def test_right_labels_of_a_weak_student_are_hardly_doubted() -> None:
    _, given, p, trusted, sure = world([1.0] * K, 1.0)
    alone, held = judged(given, p), judged(given, p, None, right_shares(given, p, trusted, sure))
    assert wrong_per_class(given, alone.noise_matrix).sum() > 0.15 * len(given)
    assert wrong_per_class(given, held.noise_matrix).sum() < 0.02 * len(given)


def test_the_issues_are_as_many_as_are_wrong() -> None:
    true, given, p, trusted, sure = world([0.6] * K, 1.0)
    found = judged(given, p, None, right_shares(given, p, trusted, sure))
    wrong = wrong_per_class(given, found.noise_matrix).sum()
    assert abs(wrong - (true != given).sum()) < 0.03 * len(given)


def test_what_a_class_is_taken_for_keeps_its_proportions() -> None:
    _, given, p, _, _ = world([0.6] * K, 1.0)
    plain = noise_matrix(given, p)
    held = judged(given, p, None, np.array([0.9, np.nan, 0.0, 1.0])).noise_matrix
    np.testing.assert_allclose(held.sum(axis=1), 1)
    np.testing.assert_allclose(held[0, 1:] / held[0, 1:].sum(), plain[0, 1:] / plain[0, 1:].sum())
    assert held[0, 0] == 0.9
    assert held[3, 3] == 1
    np.testing.assert_array_equal(held[[1, 2]], plain[[1, 2]])  # nothing told, or less than counted


def test_nothing_is_told_without_trusted_samples_of_the_class_or_of_others() -> None:
    labels, p = np.array([0, 1, 2]), np.full((3, 3), 1 / 3, np.float32)
    one = right_shares(labels, p, np.array([0]), np.array([[0.9, 0.1, 0]], np.float32))
    assert np.isnan(one).all()
    two = np.array([[0.2, 0.5, 0.3], [0.1, 0.8, 0.1]], np.float32)  # 0 and 1 are answered by 1
    told = right_shares(labels, p, np.array([0, 1]), two)
    assert np.isnan(told).tolist() == [False, False, True]
    blind = right_shares(labels, p, np.array([0, 1]), two[[1, 1]])
    assert np.isnan(blind).all(), "the student tells no class from another"


@pytest.mark.parametrize(("method", "told"), [("deep", True), ("uniform", False)])
def test_it_is_asked_for_where_the_student_trained_on_trusted_samples(
    tmp_path, method: str, told: bool
) -> None:
    """Else it knows the labels in doubt by heart, and the trusted ones not."""
    run = finished_run(tmp_path / "run", f"method.name={method}")
    assert (audit_run(run).look.right is not None) == told
