from tests.training.small import settings

from reweigh.training.tasks import prepared


def test_runs_of_one_seed_share_their_data() -> None:
    one = prepared(settings())
    assert one is prepared(settings("method.name=focal"))
    assert one is not prepared(settings("seed=1"))
