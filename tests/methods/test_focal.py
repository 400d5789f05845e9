import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from reweigh import Reweigher
from reweigh.methods.focal import FocalTeacher
from reweigh.student.seen import Progress, Seen


def reweigher(gamma: float) -> Reweigher:
    torch.manual_seed(0)
    student = nn.Linear(4, 3)
    return Reweigher(student, torch.optim.SGD(student.parameters(), lr=0.1), FocalTeacher(gamma))


def batch() -> tuple[Tensor, Tensor]:
    g = torch.Generator().manual_seed(1)
    return torch.randn(8, 4, generator=g), torch.randint(3, (8,), generator=g)


def gradient(gamma: float) -> Tensor:
    one = reweigher(gamma)
    one.loss(*batch()).backward()
    grad = one.student.module.get_parameter("bias").grad
    assert grad is not None
    return grad


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0])
def test_the_gradient_is_that_of_the_loss_not_of_a_fixed_weight(gamma: float) -> None:
    """On paper: dL_k/dℓ_k = (1−p)^γ + γ (1−p)^(γ−1) p ℓ, and dℓ_k/dz = softmax(z) − onehot(y)."""
    x, y = batch()
    z = reweigher(gamma).student.module(x).detach()
    losses = F.cross_entropy(z, y, reduction="none")
    p = torch.exp(-losses)
    slope = (1 - p) ** gamma + gamma * (1 - p) ** (gamma - 1) * p * losses  # (n,)
    by_hand = (slope[:, None] * (z.softmax(1) - F.one_hot(y, 3))).mean(0)
    torch.testing.assert_close(gradient(gamma), by_hand)
    detached = (((1 - p) ** gamma)[:, None] * (z.softmax(1) - F.one_hot(y, 3))).mean(0)
    assert (gradient(gamma) - detached).abs().max() > 0.01


def test_gamma_0_is_plain_training() -> None:
    x, y = batch()
    student = reweigher(0.0).student.module
    F.cross_entropy(student(x), y).backward()
    torch.testing.assert_close(gradient(0.0), student.get_parameter("bias").grad)


def test_hard_samples_weigh_more_and_the_sum_is_divided_by_n() -> None:
    outcome = reweigher(2.0).step(*batch())
    assert torch.equal(outcome.losses.argsort(), outcome.weights.argsort())
    torch.testing.assert_close(outcome.weights, (1 - torch.exp(-outcome.losses)) ** 2 / 8)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 2.0])
def test_a_loss_that_has_rounded_to_0_leaves_the_gradient_finite(gamma: float) -> None:
    losses = torch.tensor([0.0, 1e-7, 1.0, 200.0], requires_grad=True)
    FocalTeacher(gamma).objective(Seen(losses, None, {}, Progress())).backward()
    assert losses.grad is not None
    assert torch.isfinite(losses.grad).all()
    assert losses.grad[3] == pytest.approx(0.25)
