"""The loss-margin teacher: its formula, its units, its exact gradient, and that it finds wrong targets."""

import pytest
import torch
from tests.metagrad.brute_force import relative_error
from tests.metagrad.exactness import compared
from tests.metagrad.students import awake
from torch import nn

import reweigh
from reweigh.student.seen import Progress


def seen(losses: list[float], unit: float = 1.0) -> reweigh.Seen:
    return reweigh.Seen(unit * torch.tensor(losses), None, {}, Progress())


def test_weights_are_the_formula() -> None:
    one = reweigh.LossMarginTeacher()
    assert one(seen([1.0, 9.0])).tolist() == [0.5, 0.5]  # nothing trusted was seen yet
    one.notice_trusted(seen([1.0, 2.0, 3.0]))
    with torch.no_grad():
        one.bias.fill_(0.3)
    m = [(2 - loss) / (2 / 3) ** 0.5 for loss in (1.0, 2.0, 4.0)]
    expected = torch.sigmoid(torch.tensor([*m, -6.0]) + 0.3)  # a hundred is six deviations, no more
    torch.testing.assert_close(one(seen([1.0, 2.0, 4.0, 100.0])), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_the_unit_of_the_loss_does_not_matter(unit: float) -> None:
    here, there = reweigh.LossMarginTeacher(), reweigh.LossMarginTeacher()
    here.notice_trusted(seen([1.0, 2.0, 3.0]))
    there.notice_trusted(seen([1.0, 2.0, 3.0], unit))
    torch.testing.assert_close(there(seen([1.0, 5.0], unit)), here(seen([1.0, 5.0])))


def test_the_meta_gradient_is_exact() -> None:
    def make(student: nn.Module) -> reweigh.Teacher:
        one = awake(reweigh.LossMarginTeacher(), student)
        one.notice_trusted(seen([0.5, 1.0, 2.0]))
        return one

    found, expected = compared(make)
    assert float(expected["scale"].abs()) > 1e-9
    assert relative_error(found, expected) < 1e-10


def test_it_tells_wrong_targets_of_a_regression() -> None:
    draw = torch.Generator().manual_seed(0)
    x, slope = torch.randn(600, 4, generator=draw), torch.tensor([1.0, -2.0, 0.5, 1.5])
    y, wrong = x @ slope, torch.rand(600, generator=draw) < 0.4
    y = torch.where(wrong, y + 4, y)
    torch.manual_seed(0)
    student = nn.Linear(4, 1)
    reweigher = reweigh.Reweigher(
        student, torch.optim.SGD(student.parameters(), lr=0.05), reweigh.LossMarginTeacher(),
        trusted=(x[:50], x[:50] @ slope),
        per_sample_loss=lambda m, batch: (m(batch[0]).squeeze(1) - batch[1]).abs(),
    )  # fmt: skip
    for step in range(150):
        some = slice(50 + 50 * (step % 11), 100 + 50 * (step % 11))
        reweigher.step(x[some], y[some])
    weights = reweigher.peek(x[50:], y[50:])
    assert weights[~wrong[50:]].mean() > 3 * weights[wrong[50:]].mean()
    assert float(student.bias.detach().abs()) < 0.5  # a plain student is drawn towards 1.6


@pytest.mark.parametrize("deeper", [False, True])
def test_before_trusted_losses_are_known_it_weighs_alike_and_harms_nothing(deeper: bool) -> None:
    """With deeper interaction the student's gradient goes through the statistics, then unknown."""
    student = nn.Linear(4, 3)
    x, y = torch.randn(8, 4), torch.arange(8) % 3
    held = reweigh.Reweigher(
        student, torch.optim.SGD(student.parameters(), lr=0.1), reweigh.LossMarginTeacher(),
        trusted=(x, y), every=3, deeper=deeper,
    )  # fmt: skip
    first = held.step(x, y)
    assert first.weights.tolist() == pytest.approx([1 / 8] * 8)
    for _ in range(4):
        held.step(x, y)
    assert all(bool(p.isfinite().all()) for p in student.parameters())


def test_losses_are_compared_with_trusted_ones_of_the_same_measure() -> None:
    """Whatever `trusted_loss` measures, and in whatever unit."""
    x, y = torch.randn(12, 4), torch.arange(12) % 3

    def told(**options) -> list[float]:
        torch.manual_seed(0)
        student = nn.Linear(4, 3)
        teacher = reweigh.LossMarginTeacher()
        held = reweigh.Reweigher(
            student, torch.optim.SGD(student.parameters(), lr=0.1), teacher, trusted=(x, y), every=2,
            **options,
        )  # fmt: skip
        for _ in range(2):
            held.step(x, y)
        return teacher.trusted.tolist()

    def squared(student: nn.Module, batch) -> torch.Tensor:
        return 1e6 * (1 - student(batch[0]).softmax(1).gather(1, batch[1][:, None])[:, 0]).square()

    assert told(trusted_loss=squared) == pytest.approx(told(), rel=1e-5)
