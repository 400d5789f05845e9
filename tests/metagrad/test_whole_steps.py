"""The meta-gradient against finite differences of training itself: nothing is unrolled or derived.

The teacher's weights depend on labels alone, so that the trusted loss after the steps is a function
of ω, plain and simple. What a student's backward leaves out on purpose (`no_grad`, hooks), or computes
in its own way (checkpoints), must be the same in the way back.
"""

import pytest
import torch
import torch.nn.functional as F
from tests.metagrad.students import CLASSES
from torch import nn
from torch.utils.checkpoint import checkpoint

import reweigh

X, Y = torch.randn(2, 6, 2, 4, 4, dtype=torch.float64), torch.arange(12).reshape(2, 6) % CLASSES
TRUSTED = torch.randn(6, 2, 4, 4, dtype=torch.float64), torch.arange(6) % CLASSES


class ByLabel(reweigh.Teacher):
    """σ(ω_ỹ)."""

    def __init__(self) -> None:
        super().__init__()
        self.omega = nn.Parameter(torch.tensor([0.3, -0.4, 0.8], dtype=torch.float64))

    def forward(self, seen):
        return self.omega[seen.labels].sigmoid()


class Net(nn.Module):
    """A smooth convolutional net with batch norm; what happens in the middle is `between`."""

    def __init__(self, conv=None, between=None, norm=None):
        super().__init__()
        self.conv = conv or nn.Conv2d(2, 3, 3)
        self.norm = norm or nn.BatchNorm2d(3)
        self.fc = nn.Linear(3, CLASSES)
        self.between = between or (lambda body, x: body(x))

    def body(self, x):
        return F.softplus(self.norm(self.conv(x)))

    def forward(self, x):
        return self.fc(self.between(self.body, x).mean((2, 3)))


class Attended(nn.Module):
    """Attention by torch's kernel, recomputed in the backward."""

    def __init__(self, recomputed=True):
        super().__init__()
        self.inside = nn.Linear(4, 12)
        self.fc = nn.Linear(4, CLASSES)
        self.recomputed = recomputed

    def attend(self, x):
        q, k, v = self.inside(x).chunk(3, -1)
        return F.scaled_dot_product_attention(q, k, v)

    def forward(self, x):
        x = x.flatten(1, 2)  # (n, 8, 4)
        h = checkpoint(self.attend, x, use_reentrant=False) if self.recomputed else self.attend(x)
        return self.fc(h.mean(1))


def masked(student, batch):
    """Samples that the student is sure of count more, by a factor it does not learn through."""
    logits = student(batch[0])
    with torch.no_grad():
        sure = logits.softmax(1).amax(1)
    return sure * F.cross_entropy(logits, batch[1], reduction="none")


def adversarial(student, batch):
    """The loss at inputs that were moved up its slope."""
    x = batch[0].detach().requires_grad_()
    with torch.enable_grad():
        (slope,) = torch.autograd.grad(F.cross_entropy(student(x), batch[1]), x)
    return F.cross_entropy(student(batch[0] + 0.3 * slope), batch[1], reduction="none")


def penalised(student, batch):
    """With a penalty on the slope, which the student does learn through."""
    x = batch[0].detach().requires_grad_()
    with torch.enable_grad():
        losses = F.cross_entropy(student(x), batch[1], reduction="none")
        (slope,) = torch.autograd.grad(losses.sum(), x, create_graph=True)
    return losses + slope.square().flatten(1).sum(1)


def halved(body, x):
    """A hook that lets half of the gradient through."""
    h = body(x)
    if h.requires_grad:
        h.register_hook(lambda g: g / 2)
    return h


def recomputed(body, x):
    return checkpoint(body, x, use_reentrant=False)


ONE_STEP = ("no_grad", "adversarial")
"""What they hold constant moves with θ between steps, to which every backward is blind."""

CASES = {
    "no_grad": (Net, masked),
    "adversarial": (Net, adversarial),
    # of batch norm torch's own third derivative is off by a thousandth
    "penalty": (lambda: Net(norm=nn.GroupNorm(3, 3)), penalised),
    "checkpoint": (lambda: Net(between=recomputed), None),
    "checkpointed attention": (Attended, None),
    "weight norm": (
        lambda: Net(conv=nn.utils.parametrizations.weight_norm(nn.Conv2d(2, 3, 3))),
        None,
    ),
    "group norm, channels last": (
        lambda: Net(norm=nn.GroupNorm(3, 3)).to(memory_format=torch.channels_last),
        None,
    ),
}


def trained(case, shift=0.0, at=0, way="step", trajectory="auto"):
    """A reweigher after its steps, with one of ω's numbers moved."""
    make, loss = CASES[case]
    torch.manual_seed(0)
    student = make().double()
    teacher = ByLabel()
    with torch.no_grad():
        teacher.omega[at] += shift
    optimizer = torch.optim.SGD(student.parameters(), 0.5, momentum=0.9)
    steps = 1 if case in ONE_STEP else 2
    own = {"per_sample_loss": loss, "trusted_loss": measure} if loss else {}
    reweigher = reweigh.Reweigher(
        student, optimizer, teacher, trusted=TRUSTED, every=None, through=steps,
        trajectory=trajectory, **own,
    )  # fmt: skip
    for batch in list(zip(X, Y, strict=True))[:steps]:
        if way == "step":
            reweigher.step(*batch)
            continue
        optimizer.zero_grad()
        reweigher.loss(*batch).backward()
        optimizer.step()
        reweigher.after_step()
    return reweigher


def measure(student, batch):
    return F.cross_entropy(student(batch[0]), batch[1], reduction="none")


def by_differences(case, c=1e-5):
    def end(shift, at):
        return measure(trained(case, shift, at).student.module, TRUSTED).mean().detach()

    return torch.stack([(end(c, k) - end(-c, k)) / (2 * c) for k in range(CLASSES)])


WAYS = [("step", "kept"), ("step", "snapshots"), ("loss", "auto")]


@pytest.mark.parametrize("case", CASES)
def test_the_gradient_is_that_of_training_as_it_is_done(case):
    expected = by_differences(case)
    # a loop's own backward would recompute attention with other kernels than the recorded forward
    for way, trajectory in WAYS[: 2 if case == "checkpointed attention" else 3]:
        found = trained(case, way=way, trajectory=trajectory).meta_gradient(TRUSTED)["omega"]
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-8, msg=f"{way} {trajectory}")


def test_recorded_steps_lie_in_memory_as_others_do():
    """On CPUs a small CNN is a third slower in the other layout."""
    student = Net(conv=nn.Conv2d(1, 3, 3)).to(memory_format=torch.channels_last)
    layouts = []
    student.norm.register_forward_hook(
        lambda _, args, y: layouts.append((args[0].stride(), y.stride()))
    )
    optimizer = torch.optim.SGD(student.parameters(), 0.5, momentum=0.9)
    x, y = X[0][:, :1].float(), Y[0]
    for trajectory in ("kept", "snapshots"):
        one = reweigh.Reweigher(
            student, optimizer, ByLabel(), trusted=(x, y), every=2, trajectory=trajectory
        )
        for _ in range(4):
            one.step(x, y)
    assert len(layouts) > 8
    assert set(layouts) == {(student.conv(x).stride(),) * 2}


def test_a_hook_inside_the_student_is_heeded_in_every_way_back(monkeypatch):
    """The trusted loss is seen through it as well, so there are no differences to compare with."""
    monkeypatch.setitem(CASES, "hook", (lambda: Net(between=halved), None))
    kept, *others = [trained("hook", way=w, trajectory=t).meta_gradient(TRUSTED) for w, t in WAYS]
    monkeypatch.setitem(CASES, "hook", (Net, None))
    without = trained("hook").meta_gradient(TRUSTED)
    assert not torch.allclose(kept["omega"], without["omega"], rtol=0.01)
    for other in others:
        torch.testing.assert_close(other, kept, rtol=1e-9, atol=1e-12)
