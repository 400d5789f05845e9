import numpy as np
import pytest
from tests.audit.made_up import K, evidence

from reweigh.audit import find_label_issues, get_label_quality_scores
from reweigh.audit.issues import judged, noise_matrix, wrong_per_class
from reweigh.errors import UsageError


def test_a_known_answer_on_paper() -> None:
    """Given 0 0 0 1 1: thresholds 0.6 and 0.9; the third 0 is confidently a 1."""
    labels = np.array([0, 0, 0, 1, 1])
    p = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.1, 0.9], [0.1, 0.9]], np.float32)
    np.testing.assert_allclose(noise_matrix(labels, p), [[2 / 3, 1 / 3], [0, 1]])
    np.testing.assert_array_equal(
        find_label_issues(labels=labels, pred_probs=p), [False, False, True, False, False]
    )


def test_planted_noise_is_found_counted_and_placed() -> None:
    true, given, p, _ = evidence(n=6000)
    matrix = noise_matrix(given, p)
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    assert abs(wrong_per_class(given, matrix).sum() - (given != true).sum()) < 0.05 * len(true)
    for k in range(K):  # wrong labels are one class up, so k was taken for what is k - 1
        assert np.argsort(matrix[k])[-2] == (k - 1) % K
    found = find_label_issues(labels=given, pred_probs=p)
    assert (found & (given != true)).sum() / found.sum() > 0.9
    assert (found & (given != true)).sum() / (given != true).sum() > 0.8


def test_right_labels_raise_few_alarms() -> None:
    _, given, p, _ = evidence(n=6000, flipped=0.0)
    assert find_label_issues(labels=given, pred_probs=p).mean() < 0.05


def test_indices_come_the_most_suspicious_first() -> None:
    _, given, p, _ = evidence()
    mask = find_label_issues(labels=given, pred_probs=p)
    ranked = find_label_issues(labels=given, pred_probs=p, return_indices_ranked_by="label_quality")
    assert set(ranked) == set(np.flatnonzero(mask))
    assert (np.diff(get_label_quality_scores(given, pred_probs=p)[ranked]) >= 0).all()


def test_a_label_that_the_student_agrees_with_is_no_issue() -> None:
    _, given, p, _ = evidence()
    mask = find_label_issues(labels=given, pred_probs=p)
    assert not (mask & (p.argmax(axis=1) == given)).any()


def test_a_label_that_is_hardly_right_is_an_issue_however_few_were_counted() -> None:
    """Nobody is confident of 1 but those called so, and these are surer than any student could be."""
    labels = np.array([0] * 50 + [1] * 50)
    p = np.where(labels[:, None] == [0, 1], 0.999, 0.001)
    p[0] = [0.0015, 0.9985]
    assert wrong_per_class(labels, noise_matrix(labels, p.astype(np.float32))).sum() == 0
    np.testing.assert_array_equal(np.flatnonzero(find_label_issues(labels, p)), [0])


def test_a_class_without_samples_and_one_without_confidence_are_no_evidence() -> None:
    labels = np.array([0, 0, 1, 1])
    p = np.array([[0.6, 0.4, 0], [0.4, 0.6, 0], [0, 1, 0], [0, 1, 0]], np.float32)
    matrix = noise_matrix(labels, p)
    np.testing.assert_array_equal(matrix[2], [0, 0, 1])
    assert np.isfinite(matrix).all()


def test_another_order_is_refused() -> None:
    with pytest.raises(UsageError, match="label_quality"):
        find_label_issues(labels=[0], pred_probs=[[1.0]], return_indices_ranked_by="margin")  # pyright: ignore[reportArgumentType]


def test_labels_of_a_class_that_the_student_does_not_know_are_not_judged() -> None:
    """It never says 2, so that hardly any p(2) is below the mean of those called so."""
    labels = np.array([0] * 40 + [1] * 40 + [2] * 5)
    p = np.full((85, 3), 0.02, np.float32)
    p[np.arange(85), np.where(labels == 2, 0, labels)] = 0.96
    p[:10] = [0.55, 0.41, 0.04]  # unsure ones
    alone = judged(labels, p)
    assert alone.is_issue[labels == 2].all()
    assert alone.noise_matrix[0, 2] > 0.2
    found = judged(labels, p, np.array([True, True, False]))
    assert not found.is_issue.any()
    np.testing.assert_array_equal(found.noise_matrix, np.eye(3))


def test_of_many_small_classes_the_wrong_labels_add_up() -> None:
    labels = np.repeat(np.arange(200), 10)
    matrix = 0.96 * np.eye(200) + 0.04 * np.roll(np.eye(200), 1, axis=1)
    counts = wrong_per_class(labels, matrix)
    assert counts.sum() == 80
    assert counts.max() == 1
    np.testing.assert_array_equal(wrong_per_class(labels, np.eye(200)), 0)
