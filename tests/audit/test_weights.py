import numpy as np

from reweigh.audit.weights import mean_weights, weight_ranks


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
