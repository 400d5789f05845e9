import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from tests.audit.made_up import evidence

from reweigh.audit import get_label_quality_scores
from reweigh.errors import UsageError


def by_bayes(given: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The same, sample by sample and in whole matrices."""
    called = np.eye(p.shape[1])[given]  # (n, K)
    T = p.T.astype(np.float64) @ called
    T /= T.sum(axis=1, keepdims=True)
    posterior = p * T[:, given].T
    return (posterior / posterior.sum(axis=1, keepdims=True))[np.arange(len(given)), given]


def test_the_probability_that_a_label_is_right() -> None:
    _, given, p, _ = evidence()
    np.testing.assert_allclose(get_label_quality_scores(given, p), by_bayes(given, p), rtol=1e-5)


def test_a_student_that_knows_the_truth_and_the_rate_of_noise() -> None:
    """Two classes, a third of the 1s called 0: an unsure sample called 0 is a 1 more often than not."""
    true = np.arange(1200) // 600
    given = np.where((true == 1) & (np.arange(1200) % 3 == 0), 0, true)
    p = np.eye(2)[true] * 0.98 + 0.01
    p[0] = 0.5
    q = get_label_quality_scores(given, p)
    assert q[given != true].max() < 0.05
    assert q[(given == true)][1:].min() > 0.95
    assert abs(q[0] - 1 / (1 + 1 / 3)) < 0.02  # T_00 = 1, T_10 = 1/3


def test_it_finds_more_than_the_students_confidence_where_classes_are_taken_for_one_another() -> (
    None
):
    true, given, p, _ = evidence(n=3000)
    right, own = given == true, p[np.arange(len(given)), given]
    found = roc_auc_score(right, get_label_quality_scores(given, p))
    assert found > roc_auc_score(right, own)


def test_impossible_labels_and_classes_that_nobody_names_are_no_numbers_to_fear() -> None:
    p = np.array([[0, 1, 0], [0, 1, 0], [1, 0, 0]], np.float32)
    np.testing.assert_array_equal(get_label_quality_scores([0, 1, 0], p), [0, 1, 1])


@pytest.mark.parametrize(
    ("labels", "probabilities", "match"),
    [
        ([], [[1.0]], "labels"),
        ([0.5], [[1.0]], "labels"),
        ([-1], [[1.0]], "labels"),
        ([1], [[1.0]], "largest label, 1"),
        ([0, 0], [[1.0]], "pred_probs has shape"),
        ([0], [[4.0, -3.0]], "softmax"),
        ([0], [[np.nan, 1.0]], "softmax"),
    ],
)
def test_what_does_not_fit_together_is_refused(labels, probabilities, match) -> None:
    with pytest.raises(UsageError, match=match):
        get_label_quality_scores(labels, pred_probs=probabilities)
