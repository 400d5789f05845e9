"""Learning to Reweight: w ∝ max(0, η ∇ℓ_k · ∇M), fresh in every step."""

import torch
import torch.nn.functional as F
from tests.methods.blobs import blobs, setting, student

from reweigh.config.methods import LearningToReweightConfig
from reweigh.methods import method_for

TRAIN, TRUSTED = blobs(64, seed=2), blobs(30, seed=1)


def gradient(net: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """∇(mean loss), flat."""
    found = torch.autograd.grad(F.cross_entropy(net(x), y), list(net.parameters()))
    return torch.cat([g.flatten() for g in found])


def reweigher(net, trusted=lambda update, size: (TRUSTED.x, TRUSTED.true)):
    return method_for(LearningToReweightConfig()).reweigher(setting(net, trusted))


def test_weights_are_how_much_each_sample_would_help() -> None:
    net = student()
    m = gradient(net, TRUSTED.x, TRUSTED.true)
    helps = torch.stack(
        [gradient(net, TRAIN.x[k : k + 1], TRAIN.given[k : k + 1]) @ m for k in range(64)]
    )
    expected = helps.clamp_min(0) / helps.clamp_min(0).sum()
    found = reweigher(net).step(TRAIN.x, TRAIN.given).weights
    assert (helps < 0).any()
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-7)


def test_weights_are_not_negative_sum_to_1_and_find_wrong_labels() -> None:
    one = reweigher(student())
    for _ in range(30):
        w = one.step(TRAIN.x, TRAIN.given).weights
        assert (w >= 0).all()
        assert float(w.sum()) in (0.0, 1.0) or abs(float(w.sum()) - 1) < 1e-5
    assert w[~TRAIN.right].mean() < 0.2 * w[TRAIN.right].mean()


def test_every_step_asks_for_a_trusted_batch_of_its_own() -> None:
    asked: list[int] = []

    def trusted(update: int, size: int):
        asked.append(update)
        return TRUSTED.x[update : update + 10], TRUSTED.true[update : update + 10]

    one = reweigher(student(), trusted)
    weights = [one.step(TRAIN.x, TRAIN.given).weights for _ in range(4)]
    assert list(dict.fromkeys(asked)) == [0, 1, 2, 3]
    assert not torch.equal(weights[0], weights[1])


def test_a_batch_in_which_no_sample_helps_moves_nothing() -> None:
    net = student()
    before = [p.clone() for p in net.parameters()]
    against = (TRUSTED.true + 1) % 3
    x, y = TRUSTED.x[:1], TRUSTED.true[:1]
    one = reweigher(net, lambda update, size: (x, against[:1]))
    assert one.step(x, y).weights.tolist() == [0.0]
    assert all(torch.equal(a, b) for a, b in zip(before, net.parameters(), strict=True))
