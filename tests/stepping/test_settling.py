"""Between lessons a teacher's statistics settle, but never under a step that is to be gone back over."""

import pytest
import torch
from torch import nn

import reweigh


class Settling(reweigh.Teacher):
    """Notes after which steps it may settle."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(()))
        self.noticed, self.settled = 0, []

    def notice(self, seen: reweigh.Seen) -> None:
        self.noticed += 1

    def settle(self) -> None:
        self.settled.append(self.noticed)

    def forward(self, seen: reweigh.Seen) -> torch.Tensor:
        return (self.bias + seen.losses).sigmoid()


def batch(number: int) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(number)
    return torch.randn(8, 4, generator=draw), torch.randint(3, (8,), generator=draw)


def trained(teacher: reweigh.Teacher, steps: int, **options) -> reweigh.Reweigher:
    torch.manual_seed(0)
    student = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(student.parameters(), 0.1, momentum=0.9)
    loop = reweigh.Reweigher(student, optimizer, teacher, trusted=batch(99), **options)
    for number in range(steps):
        loop.step(*batch(number))
    return loop


@pytest.mark.parametrize(
    ("options", "settled"),
    [
        ({"every": 20, "through": 2}, [5, 10, 15, 25, 30, 35]),
        ({"every": 20, "through": 10}, [5, 10, 25, 30]),  # the eleventh is recorded
        ({"every": 5}, []),  # the fifth is recorded, and then comes a lesson
        ({"every": None}, []),  # every step is recorded
    ],
)
def test_every_five_steps_that_nothing_waits_behind(options, settled) -> None:
    teacher = Settling()
    trained(teacher, 40, **options)
    assert teacher.settled == settled


def test_the_noise_matrix_does_not_wait_for_a_lesson() -> None:
    teacher = reweigh.PosteriorTeacher(num_classes=3)
    loop = trained(teacher, 4)
    before = teacher.matrix.table.clone()
    loop.step(*batch(4))
    assert loop.clock.updates == 0
    assert not torch.equal(teacher.matrix.table, before)
