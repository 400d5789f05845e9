import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call

from reweigh import Reweigher
from reweigh.config.methods import L2TLossConfig
from reweigh.methods import method_for
from reweigh.methods.l2t_loss import LossShaper
from reweigh.student.seen import Progress, Seen

CLASSES = 3


def seen(logits: Tensor, y: Tensor, share: float = 0.0) -> Seen:
    losses = F.cross_entropy(logits, y, reduction="none")
    return Seen(losses, y, {"2:output": logits}, Progress(share))


def some_logits() -> tuple[Tensor, Tensor]:
    g = torch.Generator().manual_seed(0)
    return torch.randn(6, CLASSES, generator=g), torch.tensor([0, 1, 2, 0, 1, 2])


def test_row_i_column_y_of_the_matrix_is_what_class_i_does_to_label_y() -> None:
    logits, y = some_logits()
    teacher = LossShaper("2", CLASSES)
    with torch.no_grad():
        teacher.still.zero_()[0, 1] = 2.0
    log_p = logits.log_softmax(1)
    expected = torch.where(y == 1, -(2 * log_p[:, 0]).sigmoid(), -0.5)
    torch.testing.assert_close(teacher.shaped(seen(logits, y)), expected)


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_at_the_start_a_sample_loses_minus_sigma_of_log_p(share: float) -> None:
    logits, y = some_logits()
    p = logits.softmax(1)[torch.arange(6), y]
    value = LossShaper("2", CLASSES).objective(seen(logits, y, share))
    torch.testing.assert_close(value, -(p / (1 + p)).mean())


def test_pretraining_and_the_mix_are_the_plain_loss_in_part() -> None:
    logits, y = some_logits()
    teacher = LossShaper("2", CLASSES, pretrain=0.5, plain_share=0.25)
    early, late = seen(logits, y, 0.49), seen(logits, y, 0.5)
    torch.testing.assert_close(teacher.objective(early), early.losses.mean())
    mix = 0.25 * late.losses.mean() + 0.75 * teacher.shaped(late).mean()
    torch.testing.assert_close(teacher.objective(late), mix)


def test_the_loss_may_change_with_time_from_the_first_update_on() -> None:
    logits, y = some_logits()
    teacher = LossShaper("2", CLASSES)
    teacher.objective(seen(logits, y, 0.3)).backward()
    assert teacher.moving.grad is not None
    assert teacher.moving.grad.abs().max() > 1e-3


def small_net(seed: int) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, CLASSES)).double()


def unrolled(
    net: nn.Module, teacher: LossShaper, batches: list[tuple[Tensor, Tensor]], trusted: tuple
) -> list[Tensor]:
    """The meta-gradient of heavy-ball SGD written out under autograd: lr 0.3, μ 0.9, decay 0.01."""
    theta = {n: p.detach().clone().requires_grad_() for n, p in net.named_parameters()}
    v = {n: torch.zeros_like(p) for n, p in theta.items()}
    for t, (x, y) in enumerate(batches):
        loss = teacher.objective(seen(functional_call(net, theta, (x,)), y, t / len(batches)))
        g = torch.autograd.grad(loss, list(theta.values()), create_graph=True)
        v = {n: 0.9 * v[n] + gn + 0.01 * theta[n] for n, gn in zip(theta, g, strict=True)}
        theta = {n: theta[n] - 0.3 * v[n] for n in theta}
    value = F.cross_entropy(functional_call(net, theta, (trusted[0],)), trusted[1])
    return list(torch.autograd.grad(value, list(teacher.parameters())))


def test_the_meta_gradient_is_that_of_training_unrolled() -> None:
    net = small_net(1)
    teacher = LossShaper("2", CLASSES).double()
    with torch.no_grad():
        for p in teacher.parameters():
            p.add_(0.3 * torch.randn_like(p))
    batches = [(torch.randn(8, 4).double(), torch.randint(0, CLASSES, (8,))) for _ in range(4)]
    trusted = (torch.randn(8, 4).double(), torch.randint(0, CLASSES, (8,)))
    expected = unrolled(net, teacher, batches, trusted)
    sgd = torch.optim.SGD(net.parameters(), 0.3, momentum=0.9, weight_decay=0.01)
    reweigher = Reweigher(
        net, sgd, teacher, trusted=trusted, every=None, through=4, total_steps=len(batches)
    )
    for x, y in batches:
        reweigher.step(x, y)
    found = reweigher.meta_gradient(trusted)
    for (name, value), e in zip(found.items(), expected, strict=True):
        assert e.abs().max() > 1e-5, name
        torch.testing.assert_close(value, e, rtol=1e-9, atol=1e-12)


def blobs(n: int, seed: int) -> tuple[Tensor, Tensor]:
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, CLASSES, (n,), generator=g)
    x = torch.randn(n, 4, generator=g) + 1.5 * F.one_hot(y, 4)
    return x, y


def trusted_loss(teacher_lr: float) -> float:
    """After training on blobs where class 0 is labelled 1 in six of ten cases."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, CLASSES))
    sgd = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    teacher = LossShaper("2", CLASSES, pretrain=0.2)
    trusted = blobs(64, seed=1)
    reweigher = Reweigher(
        net, sgd, teacher, trusted=trusted, every=5, through=5, total_steps=200,
        teacher_optimizer=torch.optim.SGD(teacher.parameters(), teacher_lr),
    )  # fmt: skip
    for step in range(200):
        x, y = blobs(64, seed=100 + step)
        wrong = (y == 0) & (torch.rand(64) < 0.6)
        reweigher.step(x, torch.where(wrong, 1, y))
    x, y = blobs(512, seed=2)
    return F.cross_entropy(net(x), y).item()


def test_a_learned_loss_does_better_than_the_fixed_one_under_flipped_labels() -> None:
    fixed, learned = trusted_loss(0.0), trusted_loss(0.5)
    assert learned < 0.7 * fixed


def test_the_method_builds_its_teacher_from_the_settings() -> None:
    method = method_for(L2TLossConfig(pretrain=0.1))
    assert type(method).__name__ == "L2TLoss"
    with pytest.raises(ValueError, match="should not exceed"):
        L2TLossConfig(every=2, through=3)
