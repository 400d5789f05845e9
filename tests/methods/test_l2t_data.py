import itertools
import math
from typing import Literal

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from reweigh.config import RunConfig
from reweigh.config.methods import L2TDataConfig
from reweigh.methods import Setting
from reweigh.methods.l2t_data import (
    Filter,
    KeepPolicy,
    L2TData,
    Reinforce,
    samples_until,
    speed_reward,
)
from reweigh.student.seen import Progress, Seen
from reweigh.teachers import LabelFeature
from reweigh.training.loop import Loop
from reweigh.training.tasks import prepared
from reweigh.training.workshop import Workshop

CLASSES = 3


def seen(n: int, step: int = 0, steps: int = 10) -> Seen:
    g = torch.Generator().manual_seed(3)
    logits = torch.randn(n, CLASSES, generator=g, dtype=torch.float64)
    y = torch.arange(n) % CLASSES
    losses = F.cross_entropy(logits, y, reduction="none")
    return Seen(losses, y, {"fc:output": logits}, Progress(step / steps), torch.arange(n))


def policy(kind: str) -> KeepPolicy:
    torch.manual_seed(0)
    made = KeepPolicy(CLASSES + 5, kind, keep_bias=0.3).double()
    with torch.no_grad():
        for p in made.parameters():
            p.add_(0.5 * torch.randn_like(p))
    return made


def a_filter(made: KeepPolicy, seed: int = 0, *, learning: bool = True) -> Filter:
    return Filter(made, "fc", steps=10, seed=seed, learning=learning)


class Forced(Filter):
    """Decides as told."""

    actions: Tensor

    def _uniform(self, seen: Seen) -> Tensor:
        return 1.0 - self.actions


REWARDS = {(0, 0): 0.0, (0, 1): 3.0, (1, 0): -1.0, (1, 1): 0.5}


def exact(made: KeepPolicy) -> list[Tensor]:
    """∂/∂ω of Σ_a π(a) R(a) over all four decisions on two samples."""
    p = made(a_filter(made).state(seen(2))).sigmoid()
    value = sum(
        r * (p[0] if a else 1 - p[0]) * (p[1] if b else 1 - p[1]) for (a, b), r in REWARDS.items()
    )
    assert isinstance(value, Tensor)
    return list(torch.autograd.grad(value, list(made.parameters())))


def gathered(made: KeepPolicy) -> list[Tensor]:
    found = [p.grad.clone() for p in made.parameters() if p.grad is not None]
    made.zero_grad()
    return found


@pytest.mark.parametrize("kind", ["logistic", "mlp"])
@pytest.mark.parametrize("baseline", [0.0, 1.7])
def test_the_policy_gradient_is_the_enumerated_one(kind: str, baseline: float) -> None:
    made = policy(kind)
    expected = exact(made)
    p = made(a_filter(made).state(seen(2))).sigmoid().detach()
    total = [torch.zeros_like(e) for e in expected]
    for a, b in itertools.product((0, 1), repeat=2):
        forced = Forced(made, "fc", steps=10, seed=0, learning=True)
        forced.actions = torch.tensor([a, b], dtype=torch.float64)
        forced.notice(seen(2))
        assert forced.kept.tolist() == [bool(a), bool(b)]
        chance = (p[0] if a else 1 - p[0]) * (p[1] if b else 1 - p[1])
        score = gathered(made)  # a mean over the two samples
        total = [
            t + chance * (REWARDS[a, b] - baseline) * 2 * s
            for t, s in zip(total, score, strict=True)
        ]
    for found, e in zip(total, expected, strict=True):
        torch.testing.assert_close(found, e)


def test_the_estimate_from_draws_is_unbiased() -> None:
    made = policy("logistic")
    expected = torch.cat([e.flatten() for e in exact(made)])
    estimates = []
    for seed in range(1500):
        teacher = a_filter(made, seed)
        teacher.notice(seen(2))
        a, b = (int(k) for k in teacher.kept)
        score = torch.cat([s.flatten() for s in gathered(made)])
        estimates.append((REWARDS[a, b] - 0.8) * 2 * score)
    some = torch.stack(estimates)
    standard_error = some.std(0) / len(some) ** 0.5
    assert ((some.mean(0) - expected).abs() < 4 * standard_error + 1e-12).all()


def test_reinforce_moves_along_the_score_by_what_exceeds_the_baseline() -> None:
    made = policy("logistic")
    before = [p.detach().clone() for p in made.parameters()]
    learner = Reinforce(made, lr=0.1, baseline=1.0, decay=0.2)
    for p in made.parameters():
        p.grad = torch.ones_like(p)
    learner.update(3.0)
    for p, old in zip(made.parameters(), before, strict=True):
        torch.testing.assert_close(p.detach(), old + 0.2)
    assert learner.baseline == pytest.approx(0.2 * 1.0 + 0.8 * 3.0)
    assert all(p.grad is None for p in made.parameters())


def test_the_reward_is_speed_and_nothing_for_a_mark_never_reached() -> None:
    history = [(100, 0.5), (180, 0.7), (300, 0.6)]
    assert samples_until(history, 0.25) == 50
    assert samples_until(history, 0.5) == 100
    assert samples_until(history, 0.6) == pytest.approx(140)
    assert samples_until(history, 0.8) is None
    expected = -(math.log(0.1) / 6 + math.log(0.2) / 3)
    assert speed_reward(history, [0.25, 0.5, 0.8], 500) == pytest.approx(expected)
    assert speed_reward(history, [0.9, 0.95, 1.0], 500) == 0


def test_draws_depend_on_seed_step_and_sample_alone() -> None:
    made = policy("logistic")

    def kept(seed: int, step: int, *, flipped: bool = False) -> Tensor:
        sight = seen(60, step)
        if flipped:
            f = {k: v.flip(0) for k, v in sight.states.items()}
            assert sight.labels is not None
            assert sight.ids is not None
            sight = Seen(
                sight.losses.flip(0), sight.labels.flip(0), f, sight.progress, sight.ids.flip(0)
            )
        teacher = a_filter(made, seed, learning=False)
        teacher.notice(sight)
        return teacher(sight).bool()

    assert torch.equal(kept(1, 4), kept(1, 4, flipped=True).flip(0))
    assert not torch.equal(kept(1, 4), kept(2, 4))
    assert not torch.equal(kept(1, 4), kept(1, 5))


def test_at_the_start_almost_all_is_kept_and_nothing_is_learned_without_being_asked() -> None:
    made = KeepPolicy(CLASSES + 5, "logistic", keep_bias=2.0)
    teacher = a_filter(made, learning=False)
    teacher.notice(seen(20_000))
    share = teacher.kept.double().mean().item()
    assert share == pytest.approx(1 / (1 + math.exp(-2)), abs=0.01)
    assert all(p.grad is None for p in made.parameters())
    shown, _, kept = teacher.counts.tolist()
    assert (shown, kept) == (20_000, int(teacher.kept.sum()))


class Bandit:
    """One batch an episode, a third of it mislabelled; accuracy falls with the bad that is kept."""

    def __init__(self, method: L2TData) -> None:
        self.method = method
        last = nn.Linear(CLASSES, CLASSES)
        nn.init.eye_(last.weight)
        nn.init.zeros_(last.bias)
        self.student = nn.Sequential(last)
        true = torch.arange(60) % CLASSES
        self.bad = torch.arange(60) < 20
        self.x = 3.0 * F.one_hot(true, CLASSES)
        self.y = torch.where(self.bad, (true + 1) % CLASSES, true)

    def __call__(self, number: int) -> list[tuple[int, float]]:
        setting = Setting(
            student=self.student,
            optimizer=torch.optim.SGD(self.student.parameters(), lr=0.0),
            per_sample_loss=lambda s, b: F.cross_entropy(s(b[0]), b[1], reduction="none"),
            trusted=lambda update, size: (self.x, self.y),
            all_trusted=lambda: (self.x, self.y),
            num_classes=CLASSES,
            layers={"I0": "0"},
            feature=lambda name: LabelFeature(CLASSES),
            steps=1,
            epoch=1,
            right=None,
            seed=number,
        )
        outcome = self.method.reweigher(setting).step(self.x, self.y, ids=torch.arange(60))
        kept = outcome.weights > 0
        torch.testing.assert_close(outcome.weights, kept / kept.sum())
        bad = (kept & self.bad).sum() / kept.sum()
        return [(60, 1.05 - bad.item())]

    def keep_probability(self) -> tuple[float, float]:
        """Mean over bad and over good samples."""
        self(0)
        teacher = self.method.filter
        keep = teacher.policy(teacher.state(self.sight())).sigmoid()
        return keep[self.bad].mean().item(), keep[~self.bad].mean().item()

    def sight(self) -> Seen:
        logits = self.student(self.x).detach()
        losses = F.cross_entropy(logits, self.y, reduction="none")
        return Seen(losses, self.y, {"0:output": logits}, Progress(0.0), torch.arange(60))


@pytest.mark.parametrize("kind", ["logistic", "mlp"])
def test_where_dropping_bad_samples_pays_they_are_dropped(kind: Literal["logistic", "mlp"]) -> None:
    config = L2TDataConfig(
        policy=kind, episodes=250, teacher_lr=8.0, keep_bias=0.5, thresholds=(0.1,)
    )
    method = L2TData(config)
    bandit = Bandit(method)
    bad_before, good_before = bandit.keep_probability()
    assert bad_before == pytest.approx(good_before)
    method.prepare(bandit)
    bad, good = bandit.keep_probability()
    assert bad < 0.1
    assert good > 0.4


def test_the_loop_counts_kept_samples_as_used() -> None:
    config = RunConfig.model_validate(
        {"data": {"name": "digits", "noise": "flip:0.4"}, "method": {"name": "l2t-data"}}
    )
    method = L2TData(config.method)
    loop = Loop(Workshop(config, prepared(config), method))
    loop.shop.student.train()
    loop.epoch(0)
    shown, _, kept = method.filter.counts.tolist()
    assert int(loop.samples_used) == kept < shown == loop.shop.task.size
