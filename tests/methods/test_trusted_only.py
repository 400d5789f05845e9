from tests.methods.blobs import problem
from tests.training.small import settings, shop

from reweigh.config.methods import TrustedOnlyConfig
from reweigh.methods import method_for


def test_the_training_set_is_the_trusted_one() -> None:
    before = problem()
    after = method_for(TrustedOnlyConfig()).problem(before)
    assert after.train is before.trusted
    assert after.true_labels is None  # nothing to detect among right labels


def test_it_trains_for_as_many_steps_as_everybody_else() -> None:
    ours = shop(settings("method.name=trusted-only"), problem())
    plain = shop(settings("method.name=uniform"), problem())
    assert ours.task.size == 12
    assert plain.task.size == 40
    assert ours.steps == plain.steps
    assert ours.task.steps_per_pass < plain.task.steps_per_pass  # so it sees its few more often
