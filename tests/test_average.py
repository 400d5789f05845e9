"""The student's running average: held to torch's own, without a trace, and it survives a stop."""

import pytest
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

import reweigh
from reweigh.average import Average
from reweigh.errors import UnsupportedError, UsageError
from reweigh.seen import Tap
from reweigh.student import Student


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.ReLU(), nn.Linear(8, 3)
    )


def plain(student: nn.Module, batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    return nn.functional.cross_entropy(student(batch[0]), batch[1], reduction="none")


def batches(n: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    draw = torch.Generator().manual_seed(1)
    return [(torch.randn(12, 4, generator=draw), torch.arange(12) % 3) for _ in range(n)]


def test_it_follows_as_torch_s_own_average_does() -> None:
    net = network()
    decay = 0.1  # short enough for the first averages not to be shorter
    theirs = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(decay), use_buffers=True)
    ours = Average(Student(net, plain, [Tap("", "output")]), decay)
    optimizer = torch.optim.SGD(net.parameters(), 0.5)
    ours.look(batches(1)[0])
    theirs.update_parameters(net)  # its first one is the model itself
    for step, batch in enumerate(batches(5), start=1):
        plain(net, batch).mean().backward()
        optimizer.step()
        ours.follow(step)
        theirs.update_parameters(net)
    x = batches(1)[0]
    theirs.module[2].eval()  # no dropout, and the batch's own statistics
    with torch.no_grad():
        expected = theirs(x[0])
    torch.testing.assert_close(ours.look(x)[":output"], expected)
    net[2].eval()
    assert not torch.allclose(expected, net(x[0]))
    assert not torch.allclose(expected, theirs.eval()(x[0]))


def test_the_first_averages_are_short() -> None:
    net = nn.Linear(1, 2)
    ours = Average(Student(net, plain, [Tap("", "output")]), 0.99)
    ours.look((torch.zeros(2, 1), torch.tensor([0, 1])))
    start = net.weight.detach().clone()
    with torch.no_grad():
        net.weight += 1
    ours.follow(1)
    torch.testing.assert_close(ours.held["weight"], start + 1 - 2 / 11)


def test_looking_leaves_no_trace() -> None:
    net = network()
    before, modes = {k: v.clone() for k, v in net.state_dict().items()}, net[2].eval().training
    drawn = torch.get_rng_state()
    ours = Average(Student(net, plain, [Tap("", "output")]), 0.9)
    first = ours.look(batches(1)[0])[":output"]
    assert torch.equal(ours.look(batches(1)[0])[":output"], first)  # no dropout
    assert not first.requires_grad
    assert net.training
    assert net[2].training == modes
    assert torch.equal(drawn, torch.get_rng_state())
    assert all(torch.equal(v, before[k]) for k, v in net.state_dict().items())


def test_what_is_frozen_is_not_copied_and_what_is_unfrozen_is_taken_up() -> None:
    net = network()
    net[0].requires_grad_(False)
    ours = Average(Student(net, plain, [Tap("", "output")]), 0.9)
    ours.look(batches(1)[0])
    assert not any(name.startswith("0.") for name in ours.held)
    net[0].requires_grad_(True)
    ours.follow(1)
    assert torch.equal(ours.held["0.weight"], net[0].weight)


def held_by(net: nn.Module) -> reweigh.Reweigher:
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    teacher = reweigh.PosteriorTeacher(num_classes=3)
    return reweigh.Reweigher(net, optimizer, teacher, trusted=batches(1)[0], every=3, through=2)


def test_a_loop_that_stops_inside_a_window_goes_on_with_the_same_average() -> None:
    whole, part = network(), network()
    one, other = held_by(whole), held_by(part)
    torch.manual_seed(5)
    for batch in batches(7):
        one.step(*batch)
    torch.manual_seed(5)
    for batch in batches(7)[:5]:  # one recorded step, of two, is under way
        other.step(*batch)
    state, velocity = other.state_dict(), other.optimizer.state_dict()
    again = held_by(part)
    again.optimizer.load_state_dict(velocity)
    again.load_state_dict(state)
    for batch in batches(7)[5:]:
        again.step(*batch)
    for a, b in zip(whole.parameters(), part.parameters(), strict=True):
        assert torch.equal(a, b)
    assert again.teacher is not None
    assert one.teacher is not None
    for a, b in zip(one.teacher.parameters(), again.teacher.parameters(), strict=True):
        assert torch.equal(a, b)


def test_the_loss_is_taken_towards_what_the_average_answered() -> None:
    """After a step that threw the student far away, its targets are still those of its average."""
    net = network().eval()  # no dropout: one answer
    loop = held_by(net)
    x, y = batches(1)[0]
    loop.step(x, y)
    with torch.no_grad():
        for p in net.parameters():
            p.mul_(-3)
    assert loop.lessons.average is not None
    calm = loop.lessons.average.look((x, y))[":output"]
    assert isinstance(loop.teacher, reweigh.PosteriorTeacher)
    q = loop.teacher.matrix.posterior(calm, y)
    value = loop.student.losses((x, y), average={":output": calm}).sum()
    (found,) = torch.autograd.grad(value, net[4].bias)
    expected = (net(x).softmax(1) - q).sum(0)
    torch.testing.assert_close(found, expected)
    assert not torch.allclose(
        expected, (net(x).softmax(1) - loop.teacher.matrix.posterior(net(x), y)).sum(0)
    )


def test_deeper_interaction_and_shares_that_are_none_are_refused() -> None:
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    teacher = reweigh.PosteriorTeacher(num_classes=3)
    with pytest.raises(UnsupportedError, match=r"PosteriorTeacher\(average=0\)"):
        reweigh.Reweigher(net, optimizer, teacher, trusted=batches(1)[0], deeper=True)
    for share in (-0.1, 1.0, float("nan")):
        with pytest.raises(UsageError, match="average must be at least 0"):
            reweigh.PosteriorTeacher(num_classes=3, average=share)
