"""The student's running average: held to torch's own, without a trace, and it survives a stop."""

import pytest
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

import reweigh
from reweigh.errors import CheckpointError, DivergedError, UnsupportedError, UsageError
from reweigh.student.average import Average
from reweigh.student.seen import Known, Tap
from reweigh.student.student import Student


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.ReLU(), nn.Linear(8, 3)
    )


def plain(student: nn.Module, batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    return nn.functional.cross_entropy(student(batch[0]), batch[1], reduction="none")


def by_loss(student: nn.Module, batch: object) -> None:
    """No way to ask but by the loss."""


def batches(n: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    draw = torch.Generator().manual_seed(1)
    return [(torch.randn(12, 4, generator=draw), torch.arange(12) % 3) for _ in range(n)]


def test_it_follows_as_torch_s_own_average_does() -> None:
    net = network()
    decay = 0.1  # short enough for the first averages not to be shorter
    theirs = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(decay), use_buffers=True)
    ours = Average(Student(net, plain, [Tap("", "output")]), decay, by_loss)
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
    ours = Average(Student(net, plain, [Tap("", "output")]), 0.99, by_loss)
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
    ours = Average(Student(net, plain, [Tap("", "output")]), 0.9, by_loss)
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
    ours = Average(Student(net, plain, [Tap("", "output")]), 0.9, by_loss)
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
    value = loop.student.losses((x, y), Known(average={":output": calm})).sum()
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
        teacher = reweigh.PosteriorTeacher(num_classes=3, average=share)
        with pytest.raises(UsageError, match="average must be at least 0"):
            reweigh.Reweigher(net, optimizer, teacher, trusted=batches(1)[0])


class Merging(nn.Linear):
    """Does something when it is put into evaluation mode, as layers of adapters do."""

    asked = False

    def train(self, mode: bool = True):
        self.asked = self.asked or not mode
        return super().train(mode)


def test_the_student_s_modes_are_not_touched() -> None:
    net = nn.Sequential(Merging(4, 3))
    ours = Average(Student(net, plain, [Tap("", "output")]), 0.9, by_loss)
    ours.look(batches(1)[0])
    assert not net[0].asked


def test_a_student_that_draws_by_itself_draws_the_same_afterwards() -> None:
    class Drawing(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(4, 3)

        def forward(self, x):
            return nn.functional.dropout(self.fc(x), 0.3)  # whatever the mode

    ours = Average(Student(Drawing(), plain, [Tap("", "output")]), 0.9, by_loss)
    drawn = torch.get_rng_state()
    ours.look(batches(1)[0])
    assert torch.equal(drawn, torch.get_rng_state())


def test_a_step_that_breaks_the_student_does_not_break_the_average_for_good() -> None:
    net = network()
    loop = held_by(net)
    loop.step(*batches(1)[0])
    before = {k: v.clone() for k, v in net.state_dict().items()}
    with torch.no_grad():
        net[0].weight.fill_(float("nan"))
    assert loop.lessons.average is not None
    loop.lessons.average.follow(2)
    with pytest.raises(DivergedError):
        loop.step(*batches(1)[0])
    net.load_state_dict(before)
    assert loop.step(*batches(1)[0]).loss.isfinite()


def test_what_changes_its_shape_or_type_is_taken_up_anew() -> None:
    net = network()
    ours = Average(Student(net, plain, [Tap("", "output")]), 0.9, by_loss)
    ours.look(batches(1)[0])
    net[4] = nn.Linear(8, 5)
    ours.follow(1)
    assert ours.look(batches(1)[0])[":output"].shape == (12, 5)
    net.double()
    x, y = batches(1)[0]
    assert ours.look((x.double(), y))[":output"].dtype == torch.float64


def test_a_bfloat16_student_has_an_average_that_moves() -> None:
    net = nn.Linear(1, 2).bfloat16()
    ours = Average(Student(net, plain, [Tap("", "output")]), 0.9, by_loss)
    with torch.no_grad():
        net.weight.fill_(1.0)
        ours.look((torch.zeros(2, 1).bfloat16(), torch.tensor([0, 1])))
        net.weight.fill_(1.03125)
    for step in range(200, 300):
        ours.follow(step)
    assert ours.held["weight"].mean() > 1.031


def test_going_back_twice_to_one_state_is_the_same_twice() -> None:
    ours = Average(Student(network(), plain, [Tap("", "output")]), 0.9, by_loss)
    ours.look(batches(1)[0])
    state = ours.state_dict()
    kept = {name: t.clone() for name, t in state.items()}
    ours.load_state_dict(state, torch.device("cpu"))
    with torch.no_grad():
        for p in ours.student.module.parameters():
            p.add_(1)
    ours.follow(1)
    assert all(torch.equal(state[name], kept[name]) for name in kept)


def test_the_average_of_another_student_is_refused() -> None:
    state = held_by(network())
    state.step(*batches(1)[0])
    other = nn.Sequential(nn.Linear(4, 6), nn.Linear(6, 3))
    with pytest.raises(CheckpointError, match=r"of another student.*0\.weight"):
        held_by(other).load_state_dict(state.state_dict())


class Plain(reweigh.Teacher):
    """Weighs by what the average answers, and leaves the loss alone."""

    taps = (Tap("", "output"),)
    average = 0.5

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(()))

    def forward(self, seen: reweigh.Seen) -> torch.Tensor:
        assert seen.average is not None
        with pytest.raises(UsageError, match="its taps show"):
            seen.average["nowhere:output"]
        return (self.scale * seen.average[":output"].amax(1)).sigmoid()


def test_a_teacher_of_one_s_own_may_look_through_an_average() -> None:
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    teacher = Plain()
    loop = reweigh.Reweigher(net, optimizer, teacher, trusted=batches(1)[0], every=2)
    for batch in batches(4):
        loop.step(*batch)
    assert teacher.scale != 0


def test_an_average_whose_teacher_knows_how_to_ask_computes_no_loss() -> None:
    asked = []

    def counted(student: nn.Module, batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        asked.append(len(batch[0]))
        return plain(student, batch)

    net, one = network(), batches(1)[0]
    by = Average(Student(net, counted, [Tap("", "output")]), 0.9, by_loss).look(one)
    assert asked == [12]
    ours = Average(Student(net, counted, [Tap("", "output")]), 0.9, lambda s, b: s(b[0])).look(one)
    assert asked == [12]
    assert ours[":output"].equal(by[":output"])


def test_a_layer_that_the_answers_do_not_go_through_is_named() -> None:
    net = network()
    aside = Average(Student(net, plain, [Tap("4")]), 0.9, lambda s, b: s[0](b[0]))
    with pytest.raises(UsageError, match="layer '4' exists but did not run"):
        aside.look(batches(1)[0])


def test_a_peek_does_not_begin_the_average() -> None:
    pretrained, batch = network().state_dict(), batches(1)[0]
    ours = held_by(net := network())
    with torch.no_grad():
        for p in net.parameters():
            p.add_(1.0)
    ours.peek(*batch)
    assert not ours.state_dict()["average"]
    net.load_state_dict(pretrained)  # in place: the same shapes
    torch.testing.assert_close(ours.peek(*batch), held_by(net).peek(*batch), rtol=0, atol=0)
