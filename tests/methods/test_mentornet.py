"""Three blobs whose labels are flipped to the next class with probability 0.35."""

from dataclasses import dataclass
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from reweigh import Reweigher
from reweigh.config.methods import MentorNetConfig
from reweigh.methods import Setting, method_for
from reweigh.methods.mentor_lessons import TrustedLessons
from reweigh.methods.mentornet import MentorTeacher
from reweigh.student.batch import cross_entropy
from reweigh.student.seen import Progress, Seen
from reweigh.teachers import LabelFeature

STEPS, SIZE = 100, 64
PD = MentorNetConfig(early_dropout=0, late_dropout=0, mentor_steps=600)
DD = PD.model_copy(update={"kind": "dd", "mentor_steps": 300})


@dataclass
class Blobs:
    x: Tensor  # (n, 2)
    true: Tensor  # (n,)
    given: Tensor  # (n,)


def blobs(n: int, seed: int) -> Blobs:
    g = torch.Generator().manual_seed(seed)
    true = torch.randint(3, (n,), generator=g)
    centres = torch.tensor([[0.0, 2.0], [1.7, -1.0], [-1.7, -1.0]])
    x = centres[true] + 0.5 * torch.randn(n, 2, generator=g)
    flipped = torch.rand(n, generator=g) < 0.35
    return Blobs(x, true, (true + flipped) % 3)


TRUSTED = blobs(90, seed=1)


def student(*layers: nn.Module) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 32), *layers, nn.ReLU(), nn.Linear(32, 3))


def reweigher(config: MentorNetConfig, net: nn.Module | None = None) -> Reweigher:
    net = net or student()
    setting = Setting(
        student=net,
        optimizer=torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9),
        per_sample_loss=cross_entropy,
        trusted=lambda update, size: (TRUSTED.x, TRUSTED.true),
        all_trusted=lambda: (TRUSTED.x, TRUSTED.true),
        num_classes=3,
        layers={},
        feature=lambda name: LabelFeature(3),
        steps=STEPS,
        epoch=STEPS,
        right=None,  # nobody knows
        seed=0,
    )
    return method_for(config).reweigher(setting)


def mentor_teacher(config: MentorNetConfig) -> MentorTeacher:
    teacher = reweigher(config).teacher
    assert isinstance(teacher, MentorTeacher)
    return teacher


def train(one: Reweigher, steps: range) -> list[Tensor]:
    train_set = blobs(SIZE * 10, seed=2)
    weights = []
    for step in steps:
        ids = torch.arange(SIZE) + SIZE * (step % 10)
        weights.append(one.step(train_set.x[ids], train_set.given[ids], ids=ids).weights)
    return weights


def seen(losses: Tensor, step: int, ids: Tensor | None = None) -> Seen:
    return Seen(losses, None, {}, Progress(step / STEPS), ids)


def test_pd_gives_1_at_first_and_later_1_below_the_bar_and_0_above() -> None:
    teacher = mentor_teacher(PD)
    losses = torch.cat([torch.linspace(0.2, 1.0, 12), torch.tensor([2.5, 3.0, 3.5, 4.0])])
    easy = torch.arange(16) < 12
    teacher.notice(seen(losses, 0))
    for step in (2, 10, 30, 60):
        w = teacher(seen(losses, step)).detach()
        assert w[easy].min() > 0.8
        assert w[~easy].min() > 0.8 if step <= 18 else w[~easy].max() < 0.2


def test_the_bar_is_the_moving_average_of_the_percentile() -> None:
    teacher = mentor_teacher(PD.model_copy(update={"average_decay": 0.75, "mentor_steps": 1}))
    for step, (top, bar) in enumerate([(4.0, 3.0), (8.0, 3.75), (0.0, 2.8125)]):
        teacher.notice(seen(torch.linspace(0, top, 5), step))
        assert teacher.bar.item() == pytest.approx(bar)


def test_dropout_takes_its_share_by_seed_step_and_sample_alone() -> None:
    config = DD.model_copy(update={"early_dropout": 0.5, "late_dropout": 0.1, "burn_in": 1.0})
    teacher = mentor_teacher(config)
    ids = torch.arange(20_000)
    losses = torch.ones(len(ids))
    early, late = (teacher(seen(losses, step, ids)) for step in (16, 17))
    assert early.mean() == pytest.approx(0.5, abs=0.02)
    assert late.mean() == pytest.approx(0.9, abs=0.02)
    assert torch.equal(early.flip(0), teacher(seen(losses, 16, ids.flip(0))))
    again = teacher(seen(losses, 15, ids))
    assert (early * again).mean() == pytest.approx(0.25, abs=0.02)


def test_dd_learns_from_trusted_samples_alone_to_tell_wrong_labels() -> None:
    one = reweigher(DD)
    weights = train(one, range(STEPS))
    for w in weights[:18]:  # burn-in: all weigh the same
        assert torch.equal(w, torch.full_like(w, 1 / SIZE))
    known = blobs(SIZE * 10, seed=2)
    right = known.true == known.given
    late = torch.cat(weights[-10:])
    outweighs = (late[right][:, None] > late[~right]).float().mean()
    assert outweighs > 0.95
    assert late[~right].mean() < 0.5 * late[right].mean()
    best = blobs(2000, seed=3)
    assert (one.student.module(best.x).argmax(1) != best.true).float().mean() < 0.03


def test_dd_looks_at_the_student_without_a_trace() -> None:
    """Collecting changes neither buffers nor generators: burn-in is plain training, bit for bit."""
    weighed = reweigher(DD, student(nn.BatchNorm1d(32), nn.Dropout(0.5)))
    plain_student = student(nn.BatchNorm1d(32), nn.Dropout(0.5))
    plain = Reweigher(
        plain_student, torch.optim.SGD(plain_student.parameters(), lr=0.1, momentum=0.9)
    )
    states: list[Any] = []
    for one in (weighed, plain):
        torch.manual_seed(5)
        train(one, range(18))
        states.append(one.student.module.state_dict())
    for name, value in states[0].items():
        assert torch.equal(value, states[1][name]), name
    assert weighed.teacher is not None
    assert weighed.teacher.state_dict()["lessons.log_p"].abs().min() > 0


@pytest.mark.parametrize("stop", [12, 30])
def test_a_run_taken_up_again_goes_on_with_the_same_weights(stop: int) -> None:
    quick = DD.model_copy(update={"mentor_steps": 20})
    expected = train(reweigher(quick), range(40))
    first, second = reweigher(quick), reweigher(quick)
    train(first, range(stop))
    second.student.module.load_state_dict(first.student.module.state_dict())
    second.optimizer.load_state_dict(first.optimizer.state_dict())
    second.load_state_dict(first.state_dict())
    for a, b in zip(train(second, range(stop, 40)), expected[stop:], strict=True):
        assert torch.equal(a, b)


def test_losses_of_dd_are_those_of_the_planted_labels() -> None:
    one = reweigher(DD)
    train(one, range(10))
    assert isinstance(one.teacher, MentorTeacher)
    lessons = one.teacher.lessons
    assert isinstance(lessons, TrustedLessons)
    before = one.student.module(TRUSTED.x).detach()
    lessons.collect(10, torch.tensor(0.0))
    i = lessons.moments.index(10)
    loss = F.cross_entropy(before, TRUSTED.true, reduction="none")
    noted = -lessons.log_p[i][torch.arange(90), lessons.labels[i]]
    torch.testing.assert_close(noted, loss)
