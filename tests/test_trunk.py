"""A second pass from where the trunk of the first one ends: as mixed parameters have it, in any student."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call

import reweigh
from reweigh.average import Average
from reweigh.finding_trunk import found
from reweigh.models.cnn import CNN
from reweigh.models.resnet import ResNet
from reweigh.seen import Known, Seen, Tap
from reweigh.student import Student
from reweigh.trunk import Trunk


class Inplace(nn.Module):
    """As torchvision writes residual blocks: one ReLU for all, in place, and `out += x`."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.norm = nn.Conv2d(2, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.one, self.two = Block(), Block()
        self.relu = nn.ReLU(inplace=True)
        self.pool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu(self.norm(self.stem(x)))
        return self.fc(self.pool(self.two(self.one(x))).flatten(1))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        out = self.conv2(self.relu(self.conv1(x)))
        out += x
        return self.relu(out)


class Written(nn.Module):
    """Writes into what its first layer gave, by no layer."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.fc = nn.Linear(6, 20), nn.Linear(20, 4), nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.second(F.relu_(self.first(x))))


class Sequences(nn.Module):
    """A layer that answers with more than a tensor, and one activation for everything."""

    def __init__(self) -> None:
        super().__init__()
        self.wide, self.act = nn.Linear(6, 40), nn.Tanh()
        self.lstm, self.fc = nn.LSTM(40, 5, batch_first=True), nn.Linear(5, 3)

    def forward(self, x: Tensor) -> Tensor:
        steps, _ = self.lstm(self.act(self.wide(x))[:, None])
        return self.fc(self.act(steps[:, 0]))


IMAGES, ROWS = (4, 2, 6, 6), (4, 6)
STUDENTS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], tuple[str, ...]]] = {
    "small CNN": (
        lambda: CNN(1, 3),
        (4, 1, 28, 28),
        ("conv1", "bn1", "relu1", "pool", "conv2", "bn2", "relu2"),
    ),
    "ResNet": (
        lambda: ResNet(3, 3, depth=8),
        (4, 3, 32, 32),
        ("conv1", "bn1", "relu1", "layer1"),  # and not layer2.0.conv1, a part of a block
    ),
    "in place": (Inplace, IMAGES, ("stem", "norm", "relu", "one")),
    # a ReLU of the trunk writes into what a layer of it gave
    "rows, in place": (
        lambda: nn.Sequential(
            nn.Linear(6, 9),
            nn.Linear(9, 9),
            nn.ReLU(inplace=True),
            nn.Linear(9, 3),
            nn.Linear(3, 3),
        ),
        ROWS,
        ("0", "1", "2"),
    ),
    "layer by layer": (
        lambda: nn.Sequential(nn.Linear(6, 30), nn.Tanh(), nn.Linear(30, 20), nn.Linear(20, 3)),
        ROWS,
        ("0", "1"),
    ),
    "written into": (Written, ROWS, ()),
    "more than a tensor": (Sequences, ROWS, ("wide",)),
    "a lone layer and what has no parameters": (
        lambda: nn.Sequential(nn.Linear(6, 3), nn.LogSoftmax(1), nn.Identity()),
        ROWS,
        (),
    ),
    "one layer": (lambda: nn.Linear(6, 3), ROWS, ()),
}


def built(name: str) -> tuple[nn.Module, Tensor, list[nn.Module]]:
    """The student, a batch, and the trunk as it should be."""
    torch.manual_seed(0)
    build, shape, names = STUDENTS[name]
    student = build()
    return student, torch.randn(shape), [student.get_submodule(n) for n in names]


def twice(
    student: nn.Module, x: Tensor, other: dict[str, Tensor], modules: list[nn.Module]
) -> tuple[Tensor, Tensor]:
    """What it answers, and from its trunk on with other parameters."""
    trunk = Trunk(modules)
    with trunk.watched():
        own = student(x)
        with torch.no_grad(), trunk.again():
            return own, functional_call(student, other, (x,))


def others(student: nn.Module) -> dict[str, Tensor]:
    draw = torch.Generator().manual_seed(1)
    return {
        n: p.detach() + 0.3 * torch.randn(p.shape, generator=draw)
        for n, p in student.named_parameters()
    }


@pytest.mark.parametrize("name", STUDENTS)
def test_the_trunk_writes_the_first_three_quarters(name: str) -> None:
    student, x, expected = built(name)
    assert found(student, lambda: student(x)) == expected


@pytest.mark.parametrize("name", STUDENTS)
def test_it_answers_as_mixed_parameters_do(name: str) -> None:
    student, x, modules = built(name)
    other = others(student)
    own, answer = twice(student, x, other, modules)
    shared = {id(p) for m in modules for p in m.parameters()}
    mixed = {n: p if id(p) in shared else other[n] for n, p in student.named_parameters()}
    with torch.no_grad():
        expected = functional_call(student, mixed, (x,))
        whole = functional_call(student, other, (x,))
    assert torch.equal(own, student(x))  # nobody has written into its pass
    assert torch.equal(answer, expected)
    assert not torch.allclose(answer, own)
    assert (not modules) == torch.equal(answer, whole)
    assert not any("forward" in m.__dict__ for m in student.modules())


@pytest.mark.parametrize("name", STUDENTS)
def test_the_student_s_own_gradient_stays_as_it_is(name: str) -> None:
    student, x, modules = built(name)
    expected = torch.autograd.grad(student(x).square().sum(), list(student.parameters()))
    own, _ = twice(student, x, others(student), modules)
    answer = torch.autograd.grad(own.square().sum(), list(student.parameters()))
    for a, b in zip(answer, expected, strict=True):
        assert torch.equal(a, b)


def test_the_trunk_does_no_work_again() -> None:
    student, x, modules = built("ResNet")
    ran: list[str] = []
    for name, m in student.named_modules():
        if isinstance(m, nn.Conv2d):
            m.forward = lambda x, name=name, done=m.forward: (ran.append(name), done(x))[1]
    twice(student, x, others(student), modules)
    assert ran[-4:] == ["layer2.0.conv1", "layer2.0.conv2", "layer3.0.conv1", "layer3.0.conv2"]
    assert len(ran) == 7 + 4
    assert all("forward" in m.__dict__ for m in student.modules() if isinstance(m, nn.Conv2d))


def test_an_error_inside_leaves_the_student_as_it_was() -> None:
    student = nn.Sequential(nn.Linear(6, 4), nn.Linear(5, 3))
    trunk = Trunk([student[0]])
    with pytest.raises(RuntimeError), trunk.watched():
        student(torch.randn(2, 6))
    assert not any("forward" in m.__dict__ for m in student.modules())
    assert not trunk.given


def test_work_beside_the_answer_does_not_count() -> None:
    class Heads(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.fc, self.back = nn.Linear(6, 9), nn.Linear(9, 3), nn.Linear(9, 600)

        def forward(self, x: Tensor) -> Tensor:
            h = self.body(x)
            answer = self.fc(h)
            self.back(h)
            return answer

    student = Heads()
    assert found(student, lambda: student(torch.randn(4, 6))) == [student.body]


def test_it_ends_before_a_layer_that_drops() -> None:
    drop = nn.Dropout(0.5)
    student = nn.Sequential(
        nn.Linear(6, 9), drop, nn.Linear(9, 9), nn.Linear(9, 9), nn.Linear(9, 3)
    )
    run = lambda: student(torch.randn(4, 6))  # noqa: E731
    assert found(student, run) == list(student[:3])
    assert found(student, run, stops={drop}) == [student[0]]


# Students that do not allow it. Each has a trunk by its numbers.


class Wide(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.wide, self.narrow, self.fc = nn.Linear(6, 20), nn.Linear(20, 8), nn.Linear(8, 3)
        self.silu = nn.SiLU(inplace=True)

    def middle(self, h: Tensor) -> Tensor:
        return h.relu()

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.narrow(self.middle(self.wide(x))))


class ReadsBetween(Wide):
    def middle(self, h: Tensor) -> Tensor:
        return h.sigmoid() + self.silu(h)


class WritesWithoutGradient(Wide):
    def middle(self, h: Tensor) -> Tensor:
        return h.tanh() if torch.is_grad_enabled() else h.tanh_()


class Draws(Wide):
    def middle(self, h: Tensor) -> Tensor:
        return F.dropout(h, 0.5, self.training)


class LeavesBehind(Wide):
    def middle(self, h: Tensor) -> Tensor:
        self.aux = h.square().mean()
        return h.relu()


class Down(nn.Linear):
    store: list[Tensor]

    def forward(self, input: Tensor) -> Tensor:
        self.store.append(input)
        return super().forward(input)


class Stack(Wide):
    """Its first layer puts on a stack what its last one takes from there."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = Down(6, 20)
        self.wide.store = []

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + self.wide.store.pop().sum(1, keepdim=True)


def hooked() -> nn.Module:
    student = Wide()
    student.narrow.register_forward_hook(lambda m, args, output: None)
    return student


REFUSE = {
    "reads between": ReadsBetween,
    "writes without gradient": WritesWithoutGradient,
    "draws": Draws,
    "leaves behind": LeavesBehind,
    "has a stack": Stack,
    "is hooked": hooked,
}


def plain(student: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    return F.cross_entropy(student(batch[0]), batch[1], reduction="none")


def looking(student: nn.Module, loss: Callable[..., Tensor] = plain) -> tuple[Average, Student]:
    watched = Student(student, loss, [Tap("", "output")])
    return Average(watched, 0.9, lambda s, batch: s(batch[0])), watched


def batch() -> tuple[Tensor, Tensor]:
    draw = torch.Generator().manual_seed(2)
    return torch.randn(4, 6, generator=draw), torch.tensor([0, 1, 2, 0])


def moved(average: Average, student: nn.Module, one: tuple[Tensor, Tensor]) -> None:
    """The student goes on, its average stays behind."""
    average.glance(one)()
    with torch.no_grad():
        for p in student.parameters():
            p += 0.1


def test_a_student_that_allows_it_shares_its_trunk() -> None:
    torch.manual_seed(0)
    student, one = Wide(), batch()
    average, watched = looking(student)
    moved(average, student, one)
    seen = watched.look(one, Known(average=average.glance(one)))
    assert seen.average is not None
    with torch.no_grad():
        h = student.wide(one[0]).relu()
        for layer in ("narrow", "fc"):
            h = F.linear(h, average.held[f"{layer}.weight"], average.held[f"{layer}.bias"])
    torch.testing.assert_close(seen.average[":output"], h)


@pytest.mark.parametrize("name", REFUSE)
def test_one_that_does_not_is_looked_at_as_a_whole(name: str) -> None:
    torch.manual_seed(0)
    student, one = REFUSE[name](), batch()
    average, watched = looking(student)
    moved(average, student, one)
    torch.manual_seed(5)
    glance = average.glance(one)
    torch.manual_seed(5)
    expected = functional_call(student, average.held, (one[0],)).detach()
    torch.manual_seed(5)
    seen = watched.look(one, Known(average=glance))
    assert seen.average is not None
    torch.testing.assert_close(seen.average[":output"], expected)
    seen.losses.sum().backward()


def test_a_loss_that_asks_otherwise_is_looked_at_as_a_whole() -> None:
    student, one = Wide(), batch()
    average, watched = looking(student, lambda s, b: plain(s, (b[0].flip(1), b[1])))
    moved(average, student, one)
    seen = watched.look(one, Known(average=average.glance(one)))
    assert seen.average is not None
    expected = functional_call(student, average.held, (one[0],))
    torch.testing.assert_close(seen.average[":output"], expected.detach())


def test_other_modes_and_new_layers_are_noticed() -> None:
    student, one = nn.Sequential(nn.Linear(6, 8), nn.Linear(8, 3)), batch()
    average, watched = looking(student)
    moved(average, student, one)
    student[0] = nn.Sequential(student[0], nn.Dropout(0.5))
    watched.look(one, Known(average=average.glance(one)))
    student[0].eval()
    with torch.inference_mode():
        watched.peek(one, Known(average=average.glance(one)))
    seen = watched.look(one, Known(average=average.glance(one)))
    assert seen.average is not None
    assert not any("forward" in m.__dict__ for m in student.modules())


class Inside(reweigh.Teacher):
    """Looks at a layer inside the trunk, and at one behind it."""

    average = 0.5

    def __init__(self) -> None:
        super().__init__()
        self.taps = Tap("0.0", "output"), Tap("1", "output")
        self.c = nn.Parameter(torch.ones(()))
        self.shown: list[Seen] = []

    def forward(self, seen: Seen) -> Tensor:
        assert seen.average is not None
        return (self.c * seen.average["1:output"].square().sum(1)).sigmoid()

    def notice(self, seen: Seen) -> None:
        self.shown.append(seen)


def test_a_teacher_may_look_inside_the_trunk() -> None:
    torch.manual_seed(0)
    student = nn.Sequential(nn.Sequential(nn.Linear(6, 8), nn.Tanh()), nn.Linear(8, 3))
    optimizer, teacher = torch.optim.SGD(student.parameters(), 0.5), Inside()
    x, y = torch.randn(8, 6), torch.arange(8) % 3
    loop = reweigh.Reweigher(student, optimizer, teacher, trusted=(x, y), every=2)
    for _ in range(4):
        loop.step(x, y)
    last = teacher.shown[-1]
    assert last.average is not None
    assert torch.equal(last.average["0.0:output"], last.states["0.0:output"])
    assert not torch.allclose(last.average["1:output"], last.states["1:output"])
