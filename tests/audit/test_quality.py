import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from tests.audit.made_up import evidence

from reweigh.audit import get_label_quality_scores
from reweigh.audit.quality import mean_weights, weight_ranks
from reweigh.errors import UsageError


def test_two_witnesses_are_better_than_either() -> None:
    true, given, p, weights = evidence(n=3000)
    right = given == true
    both = roc_auc_score(right, get_label_quality_scores(given, pred_probs=p, weights=weights))
    assert both > roc_auc_score(right, get_label_quality_scores(given, pred_probs=p))
    assert both > roc_auc_score(right, weight_ranks(weights))


def test_scores_lie_between_0_and_1_whatever_the_scale_of_the_weights() -> None:
    _, given, p, weights = evidence()
    scores = get_label_quality_scores(given, pred_probs=p, weights=weights)
    assert scores.min() >= 0
    assert scores.max() <= 1
    np.testing.assert_array_equal(
        scores, get_label_quality_scores(given, pred_probs=p, weights=1024 * weights)
    )


def test_samples_that_were_never_seen_stand_in_the_middle() -> None:
    weights = np.array([[3.0, np.nan, 1.0], [5.0, np.nan, np.nan]], np.float32)
    np.testing.assert_array_equal(mean_weights(weights), np.array([4, np.nan, 1], np.float32))
    np.testing.assert_array_equal(weight_ranks(weights), np.array([0.75, 0.5, 0.25], np.float32))


def test_equal_weights_say_nothing() -> None:
    np.testing.assert_array_equal(weight_ranks(np.ones(4, np.float32)), np.full(4, 0.5))


def test_only_the_last_epochs_count() -> None:
    weights = np.ones((7, 2), np.float32)
    weights[:2] = 100
    np.testing.assert_array_equal(mean_weights(weights), [1, 1])


@pytest.mark.parametrize(
    ("labels", "weights", "probabilities", "match"),
    [
        ([], None, [[1.0]], "labels"),
        ([0.5], None, [[1.0]], "labels"),
        ([-1], None, [[1.0]], "labels"),
        ([1], None, [[1.0]], "largest label, 1"),
        ([0, 0], None, [[1.0]], "pred_probs has shape"),
        ([0], None, [[4.0, -3.0]], "softmax"),
        ([0], None, [[np.nan, 1.0]], "softmax"),
        ([0], [1.0, 2.0], [[1.0]], r"weights has shape \(2,\)"),
    ],
)
def test_what_does_not_fit_together_is_refused(labels, weights, probabilities, match) -> None:
    with pytest.raises(UsageError, match=match):
        get_label_quality_scores(labels, pred_probs=probabilities, weights=weights)
