import numpy as np

from reweigh.data.splits import hold_out_test, per_class, proportional


def test_per_class_takes_the_counts_and_smaller_choices_are_nested():
    labels = np.repeat([0, 1, 2], [10, 20, 3])
    chosen = per_class(labels, [4, 5, 9], np.random.default_rng(0))
    assert np.bincount(labels[chosen]).tolist() == [4, 5, 3]
    fewer = per_class(labels, [2, 5, 1], np.random.default_rng(0))
    assert set(fewer) < set(chosen)


def test_proportions_are_kept_and_no_class_vanishes():
    labels = np.repeat([0, 1, 2], [600, 399, 1])
    assert proportional(labels, 3, 100) == [59, 40, 1]
    assert proportional(np.repeat([0, 1], [50, 50]), 2, 7) in ([4, 3], [3, 4])
    assert sum(proportional(labels, 3, 2)) == 2


def test_test_set_is_a_fifth_of_every_class_and_shares_no_content():
    labels = np.repeat([0, 1], [100, 50])
    hashes = np.arange(150, dtype=np.uint64)
    test = hold_out_test(labels, hashes)
    assert np.bincount(labels[test]).tolist() == [20, 10]
    hashes[:60] = np.repeat(np.arange(20, dtype=np.uint64), 3)  # triplets
    test = hold_out_test(labels, hashes)
    assert not set(hashes[test]) & set(hashes[~test])
    assert test[:60].any()
    assert not test[:60].all()
