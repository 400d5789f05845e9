from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.methods.blobs import problem
from tests.training.small import settings, shop

from reweigh.config.training import TrainingConfig
from reweigh.data.samples import Samples
from reweigh.training.tasks.classification import default_model, forward_under
from reweigh.training.workshop import optimizer_for


def test_the_pieces_fit_the_problem() -> None:
    one = shop(settings("method.name=uniform", "training.epochs=3"), problem())
    assert tuple(one.task.counts().values()) == (40, 12, 20)
    assert (one.task.steps_per_pass, one.steps_per_epoch, one.steps) == (5, 5, 15)
    assert one.student(one.task.batch(torch.arange(2), 0)[0]).shape == (2, 3)
    assert one.task.right.sum() < 40
    assert one.task.right.tolist() == (problem().train.labels == problem().true_labels).tolist()
    assert shop(settings("method.name=uniform"), problem(known=False)).task.right is None


def test_the_same_seed_builds_the_same_student_and_another_another() -> None:
    a, b, c = (shop(settings(f"seed={seed}"), problem()).student for seed in (1, 1, 2))
    assert all(torch.equal(x, y) for x, y in zip(a.parameters(), b.parameters(), strict=True))
    assert not torch.equal(next(a.parameters()), next(c.parameters()))


def test_trusted_batches_are_the_update_s_own() -> None:
    one = shop(settings(), problem())
    x, y = one.task.trusted_batch(0, 5)
    assert x.shape == (5, 2)
    again = one.task.trusted_batch(0, 5)
    assert torch.equal(x, again[0])
    assert torch.equal(y, again[1])
    assert not torch.equal(x, one.task.trusted_batch(1, 5)[0])


@pytest.mark.parametrize(("augment", "average"), [("none", 0.0), ("crop-flip", 0.9)])
def test_samples_that_look_the_same_in_every_epoch_are_not_judged_by_an_average(
    augment: str, average: float
) -> None:
    few = problem(train=60)

    def pictured(part: Samples) -> Samples:
        return replace(part, inputs=np.zeros((len(part), 8, 8, 1), dtype=np.uint8))

    train, trusted, test = map(pictured, (few.train, few.trusted, few.test))
    pictures = replace(few, train=train, trusted=trusted, test=test, kind="image")
    chosen = settings("training.epochs=20", "training.batch_size=1", f"training.augment={augment}")
    teacher = shop(chosen, pictures).reweigher.teacher
    assert teacher is not None
    assert teacher.average == average


def test_a_student_that_fits_the_samples() -> None:
    assert default_model((20,)) == "mlp"
    assert default_model((1, 28, 28)) == "cnn"
    assert default_model((3, 32, 32)) == "resnet20"


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"optimizer": "sgd", "nesterov": True}, torch.optim.SGD),
        ({"optimizer": "adam"}, torch.optim.Adam),
        ({"optimizer": "adamw"}, torch.optim.AdamW),
    ],
)
def test_the_optimizer_has_the_settings(options: dict, kind: type) -> None:
    made = optimizer_for(torch.nn.Linear(2, 2), TrainingConfig(lr=0.3, weight_decay=0.2, **options))
    assert type(made) is kind
    group = made.param_groups[0]
    assert (group["lr"], group["weight_decay"]) == (0.3, 0.2)
    assert group.get("nesterov", False) == options.get("nesterov", False)


def test_bf16_gives_float32_logits() -> None:
    net, x = torch.nn.Linear(2, 2), torch.ones(1, 2)
    rounded, exact = (forward_under(b, torch.device("cpu"))(net, x) for b in (True, False))
    assert rounded.dtype == exact.dtype == torch.float32
    assert not torch.equal(rounded, exact)
    torch.testing.assert_close(rounded, exact, rtol=0.02, atol=0.02)
