"""The length of a step under labels in doubt: against autograd over every label that can come."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import reweigh
from reweigh.teachers import NoiseMatrix
from reweigh.teachers.step_length import LONGEST, RATE, StepLength, squares


def noisy(classes: int, seed: int) -> Tensor:
    """Some T, (C, C), rows that sum to 1."""
    drawn = torch.rand(
        classes, classes, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    )
    return drawn / drawn.sum(1, keepdim=True)


def drawn_logits(n: int, classes: int) -> Tensor:
    return 2 * torch.randn(
        n, classes, generator=torch.Generator().manual_seed(5), dtype=torch.float64
    )


def matrix(table: Tensor) -> NoiseMatrix:
    one = NoiseMatrix(len(table)).double()
    one.table.copy_(table)
    return one


def mean_square(table: Tensor, logits: Tensor) -> Tensor:
    """E over ỹ ~ Tᵀp of the squared gradient of −log Σ T p in the logits, by autograd, (n,)."""
    one, shares, found = matrix(table), logits.softmax(1) @ table, torch.zeros(len(logits))
    for given in range(len(table)):
        z = logits.clone().requires_grad_()
        labels = torch.full((len(z),), given)
        (g,) = torch.autograd.grad(one.losses(z, labels).sum(), z)
        found = found + shares[:, given] * g.square().sum(1)
    return found


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_both_squares_are_those_of_the_gradients_over_all_labels(seed: int) -> None:
    table, logits = noisy(4, seed), drawn_logits(6, 4)
    a, b = squares(logits.softmax(1), table)
    torch.testing.assert_close(b, mean_square(table, logits))
    torch.testing.assert_close(a, mean_square(torch.eye(4, dtype=torch.float64), logits))


@pytest.mark.parametrize("seed", range(5))
def test_noise_never_makes_a_label_tell_more(seed: int) -> None:
    a, b = squares(drawn_logits(50, 7).softmax(1), noisy(7, seed))
    assert (b <= a + 1e-12).all()
    assert (b >= -1e-12).all()


def test_right_labels_leave_the_step_as_it_is() -> None:
    one = StepLength()
    for _ in range(100):
        one.notice(drawn_logits(8, 5).softmax(1).float(), torch.eye(5))
    one.refresh()
    assert one.value.item() == pytest.approx(1.0, abs=1e-6)


def test_uniform_noise_of_an_unsure_student_by_hand() -> None:
    """p even: q − p is 0.6 times 1[ỹ] − p, so the step is to be 1/0.6 times as long."""
    table = 0.6 * torch.eye(10) + 0.04
    one = StepLength()
    for _ in range(400):
        one.notice(torch.full((16, 10), 0.1), table)
    assert one.value == 1  # until it is asked to move
    one.refresh()
    assert one.value.item() == pytest.approx(1 / 0.6, rel=1e-4)


def test_it_begins_at_1_and_follows_slowly() -> None:
    one, table = StepLength(), 0.6 * torch.eye(10) + 0.04
    one.notice(torch.full((16, 10), 0.1), table)
    one.refresh()
    a, b = 1 + RATE * (0.9 - 1), 1 + RATE * (0.36 * 0.9 - 1)
    assert one.value.item() == pytest.approx((a / b) ** 0.5, rel=1e-5)


def test_samples_whose_label_is_sure_have_no_say() -> None:
    p, table = drawn_logits(6, 4).softmax(1).float(), noisy(4, 0).float()
    sure = torch.tensor([True, False, True, False, False, True])
    some, only = StepLength(), StepLength()
    some.notice(p, table, sure)
    only.notice(p[~sure], table)
    torch.testing.assert_close(some.squares, only.squares)
    before = some.squares.clone()
    some.notice(p, table, torch.ones(6, dtype=torch.bool))
    assert torch.equal(some.squares, before)


def test_labels_that_tell_nothing_do_not_make_it_endless() -> None:
    one = StepLength()
    for _ in range(2000):
        one.notice(drawn_logits(8, 4).softmax(1).float(), torch.full((4, 4), 0.25))
    one.refresh()
    assert one.value.item() == LONGEST


def test_the_student_s_loss_is_that_much_larger_and_is_told_without_it() -> None:
    teacher = reweigh.PosteriorTeacher(num_classes=3)
    student, batch = torch.nn.Linear(4, 3), (torch.randn(5, 4), torch.tensor([0, 1, 2, 0, 1]))
    loss = teacher.loss(
        lambda s, b: F.cross_entropy(s(b[0]), b[1], reduction="none"), lambda b: b[1]
    )
    before = loss(student, batch)
    teacher.length.value.fill_(1.7)
    after = loss(student, batch)
    torch.testing.assert_close(after, 1.7 * before)
    torch.testing.assert_close(teacher.told(after), before)


def test_a_step_tells_its_losses_without_it_and_is_longer_by_it() -> None:
    x, y = drawn_logits(8, 4).float(), torch.arange(8) % 3

    def moved(length: float) -> tuple[Tensor, reweigh.Outcome]:
        torch.manual_seed(0)
        student, teacher = torch.nn.Linear(4, 3), reweigh.PosteriorTeacher(num_classes=3)
        start = student.weight.detach().clone()
        teacher.length.value.fill_(length)
        optimizer = torch.optim.SGD(student.parameters(), 0.1)
        outcome = reweigh.Reweigher(student, optimizer, teacher, trusted=(x, y)).step(x, y)
        return student.weight.detach() - start, outcome

    (short, plain), (long, longer) = moved(1.0), moved(1.7)
    torch.testing.assert_close(long, 1.7 * short)
    torch.testing.assert_close(longer.losses, plain.losses)
    assert longer.mean_loss == pytest.approx(plain.mean_loss)
