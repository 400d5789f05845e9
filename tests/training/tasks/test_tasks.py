import torch
from tests.training.small import settings, shop

from reweigh.training.tasks import prepared
from reweigh.training.tasks.classification import Classification


def test_runs_of_one_seed_share_their_data() -> None:
    one = prepared(settings())
    assert one is prepared(settings("method.name=focal"))
    assert one is not prepared(settings("seed=1"))


def test_the_whole_trusted_set_is_seen_as_an_evaluation_sees_it() -> None:
    """Gold loss correction asks about it: not through one random crop of each image."""
    config = settings("training.augment=crop-flip")
    task = shop(config, prepared(config)).task
    assert isinstance(task, Classification)
    x, y = task.all_trusted()
    again, _ = task.trusted.batch(torch.arange(len(y)), train=False)
    cropped, _ = task.trusted.batch(torch.arange(len(y)), train=True)
    assert torch.equal(x, again)
    assert not torch.equal(x, cropped)
    assert torch.equal(y, task.trusted.labels)
