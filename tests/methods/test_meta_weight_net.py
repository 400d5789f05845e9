"""Meta-Weight-Net's own claim: under label noise the learned weight falls with the loss."""

import torch
from tests.methods.blobs import blobs, setting, student

from reweigh.config.methods import MetaWeightNetConfig
from reweigh.methods import method_for
from reweigh.reweigher import Reweigher
from reweigh.student.seen import Progress, Seen

SIZE, STEPS = 64, 150
TRAIN, TRUSTED = blobs(SIZE * 10, seed=2), blobs(60, seed=1)


def trained(teacher_lr: float, **options) -> Reweigher:
    config = MetaWeightNetConfig(hidden=16, teacher_lr=teacher_lr, **options)
    trusted = lambda update, size: (TRUSTED.x, TRUSTED.true)  # noqa: E731
    one = method_for(config).reweigher(setting(student(), trusted))
    for step in range(STEPS):
        ids = torch.arange(SIZE) + SIZE * (step % 10)
        one.step(TRAIN.x[ids], TRAIN.given[ids], ids=ids)
    return one


def curve(one: Reweigher) -> torch.Tensor:
    """Weights at losses 0, 0.5, … 6, (13,)."""
    losses = torch.linspace(0, 6, 13)
    return one.teacher(Seen(losses, None, {}, Progress())).detach()


def test_weights_fall_with_the_loss_under_planted_noise() -> None:
    one = trained(teacher_lr=0.01)
    w = curve(one)
    assert (w[1:] < w[:-1]).all()
    assert w[-1] < 0.1 * w[0]
    raw = one.peek(TRAIN.x, TRAIN.given)
    assert raw[~TRAIN.right].mean() < 0.1 * raw[TRAIN.right].mean()


def test_a_rate_of_nearly_nothing_leaves_the_curve_flat() -> None:
    w = curve(trained(teacher_lr=1e-7))
    assert w[-1] > 0.7 * w[0]


def test_weights_are_over_the_count_or_sum_to_1() -> None:
    def weights(normalise: bool) -> torch.Tensor:
        config = MetaWeightNetConfig(hidden=16, normalise=normalise)
        trusted = lambda update, size: (TRUSTED.x, TRUSTED.true)  # noqa: E731
        one = method_for(config).reweigher(setting(student(), trusted))
        return one.step(TRAIN.x[:SIZE], TRAIN.given[:SIZE]).weights

    assert 0 < float(weights(normalise=False).sum()) < 1  # Σσ / n
    torch.testing.assert_close(weights(normalise=True).sum(), torch.ones(()))


def test_the_curve_learns_before_every_kth_step() -> None:
    config = MetaWeightNetConfig(hidden=4, every=3)
    asked: list[int] = []

    def trusted(update: int, size: int):
        asked.append(update)
        return TRUSTED.x, TRUSTED.true

    one = method_for(config).reweigher(setting(student(), trusted))
    curves = []
    for _ in range(4):
        one.step(TRAIN.x[:SIZE], TRAIN.given[:SIZE])
        curves.append(curve(one))
    assert torch.equal(curves[0], curves[1])
    assert torch.equal(curves[1], curves[2])
    assert not torch.equal(curves[2], curves[3])
    assert set(asked) == {0, 1}
