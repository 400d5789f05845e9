import numpy as np
import pytest
from tests.methods.blobs import problem

from reweigh.config.methods import CleanLabelsConfig
from reweigh.errors import UsageError
from reweigh.methods import method_for


def test_labels_are_put_right_and_inputs_stay() -> None:
    before = problem()
    after = method_for(CleanLabelsConfig()).problem(before)
    assert not np.array_equal(before.train.labels, before.true_labels)
    assert np.array_equal(after.train.labels, before.true_labels)
    assert after.train.inputs is before.train.inputs


def test_it_is_refused_where_nobody_knows_the_truth() -> None:
    with pytest.raises(UsageError, match="clean-labels needs the true labels"):
        method_for(CleanLabelsConfig()).problem(problem(known=False))
