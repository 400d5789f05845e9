import numpy as np

from reweigh.audit.copies import conflicting_copies


def test_only_equal_inputs_with_different_labels_are_conflicts() -> None:
    hashes = np.array([5, 7, 5, 9, 7, 7], np.uint64)
    labels = np.array([0, 1, 0, 2, 1, 0])
    groups = conflicting_copies(hashes, labels)
    assert [group.tolist() for group in groups] == [[1, 4, 5]]


def test_no_copies_no_groups() -> None:
    assert conflicting_copies(np.arange(4, dtype=np.uint64), np.zeros(4, np.int64)) == []
