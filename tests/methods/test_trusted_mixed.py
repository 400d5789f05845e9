import numpy as np
from tests.methods.blobs import problem
from tests.training.small import settings, shop

from reweigh.config.methods import TrustedMixedConfig
from reweigh.config.methods.one import TRUSTED_SHARE
from reweigh.methods import method_for


def test_trusted_samples_stand_behind_the_training_samples() -> None:
    before = problem()
    after = method_for(TrustedMixedConfig()).problem(before)
    assert len(after.train) == len(before.train) + len(before.trusted)
    assert np.array_equal(after.train.inputs[40:], before.trusted.inputs)
    assert np.array_equal(after.train.labels[40:], before.trusted.labels)
    assert np.array_equal(after.true_labels[:40], before.true_labels)
    assert np.array_equal(after.true_labels[40:], before.trusted.labels)
    assert method_for(TrustedMixedConfig()).problem(problem(known=False)).true_labels is None


def test_few_trusted_samples_are_repeated_until_they_are_a_tenth_of_the_stream() -> None:
    stream = method_for(TrustedMixedConfig()).problem(problem(train=400, trusted=12)).train
    assert len(stream) == 400 + 4 * 12
    assert abs(4 * 12 / len(stream) - TRUSTED_SHARE) < 0.01


def test_more_samples_are_not_more_steps() -> None:
    mixed = shop(settings("method.name=trusted-mixed"), problem())
    assert mixed.steps == shop(settings("method.name=uniform"), problem()).steps
