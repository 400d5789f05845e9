"""A second pass from where the trunk of the first one ends: as mixed parameters have it, in any student."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call

import reweigh
from reweigh.models.cnn import CNN
from reweigh.models.resnet import ResNet
from reweigh.seen import Seen, Tap
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
    "small CNN": (lambda: CNN(1, 3), (4, 1, 28, 28), ("conv1", "bn1", "conv2", "bn2")),
    "ResNet": (
        lambda: ResNet(3, 3, depth=8),
        (4, 3, 32, 32),
        ("conv1", "bn1", "layer1", "layer2.0.conv1"),
    ),
    # two.conv1 would be of the trunk, but a ReLU behind the trunk writes into what it gave
    "in place": (Inplace, IMAGES, ("stem", "norm", "one")),
    "layer by layer": (
        lambda: nn.Sequential(nn.Linear(6, 30), nn.Tanh(), nn.Linear(30, 20), nn.Linear(20, 3)),
        ROWS,
        ("0.", "1."),
    ),
    "written into": (Written, ROWS, ()),
    "more than a tensor": (Sequences, ROWS, ("wide",)),
    "one layer": (lambda: nn.Linear(6, 3), ROWS, ()),
}


def twice(student: nn.Module, x: Tensor, other: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    """What it answers, and from its trunk on with other parameters."""
    trunk = Trunk()
    with trunk.watched(student):
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
def test_it_answers_as_mixed_parameters_do(name: str) -> None:
    torch.manual_seed(0)
    build, shape, trunk = STUDENTS[name]
    student, x = build(), torch.randn(shape)
    other = others(student)
    own, found = twice(student, x, other)
    mixed = {
        n: p if n.startswith(trunk) and trunk else other[n] for n, p in student.named_parameters()
    }
    with torch.no_grad():
        expected = functional_call(student, mixed, (x,))
    assert torch.equal(own, student(x))  # nobody has written into its pass
    assert torch.equal(found, expected)
    assert not torch.allclose(found, own)
    assert (not trunk) == torch.equal(found, functional_call(student, other, (x,)))
    assert not any("forward" in m.__dict__ for m in student.modules())


@pytest.mark.parametrize("name", STUDENTS)
def test_the_student_s_own_gradient_stays_as_it_is(name: str) -> None:
    torch.manual_seed(0)
    build, shape, _ = STUDENTS[name]
    student, x = build(), torch.randn(shape)
    expected = torch.autograd.grad(student(x).square().sum(), list(student.parameters()))
    own, _ = twice(student, x, others(student))
    found = torch.autograd.grad(own.square().sum(), list(student.parameters()))
    for a, b in zip(found, expected, strict=True):
        assert torch.equal(a, b)


def test_the_trunk_does_no_work_again() -> None:
    student, ran = ResNet(3, 3, depth=8), []
    for name, m in student.named_modules():
        if isinstance(m, nn.Conv2d):
            m.forward = lambda x, name=name, done=m.forward: (ran.append(name), done(x))[1]
    twice(student, torch.randn(4, 3, 32, 32), others(student))
    assert ran[-3:] == ["layer2.0.conv2", "layer3.0.conv1", "layer3.0.conv2"]
    assert len(ran) == 7 + 3
    assert all("forward" in m.__dict__ for m in student.modules() if isinstance(m, nn.Conv2d))


def test_a_student_that_goes_another_way_is_followed() -> None:
    class Fickle(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.left, self.right, self.fc = nn.Linear(6, 30), nn.Linear(6, 30), nn.Linear(30, 3)
            self.turn = 0

        def forward(self, x: Tensor) -> Tensor:
            self.turn += 1
            return self.fc((self.left if self.turn % 2 else self.right)(x))

    student, x = Fickle(), torch.randn(4, 6)
    other = others(student)
    _, found = twice(student, x, other)
    student.turn = 1
    assert torch.equal(found, functional_call(student, other, (x,)))


def test_an_error_inside_leaves_the_student_as_it_was() -> None:
    student = nn.Sequential(nn.Linear(6, 4), nn.Linear(5, 3))
    with pytest.raises(RuntimeError), Trunk().watched(student):
        student(torch.randn(2, 6))
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
    student = nn.Sequential(nn.Sequential(nn.Linear(6, 30), nn.Tanh()), nn.Linear(30, 3))
    optimizer, teacher = torch.optim.SGD(student.parameters(), 0.5), Inside()
    x, y = torch.randn(8, 6), torch.arange(8) % 3
    loop = reweigh.Reweigher(student, optimizer, teacher, trusted=(x, y), every=2)
    for _ in range(4):
        loop.step(x, y)
    last = teacher.shown[-1]
    assert last.average is not None
    assert torch.equal(last.average["0.0:output"], last.states["0.0:output"])
    assert not torch.allclose(last.average["1:output"], last.states["1:output"])
