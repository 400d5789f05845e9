"""The margin teacher: its formula, its exact gradient, and that no student's coordinates matter."""

import pytest
import torch
from tests.metagrad.brute_force import relative_error
from tests.metagrad.exactness import compared, data_of
from tests.metagrad.students import CLASSES, awake, build

import reweigh
import reweigh.errors
from reweigh.student.seen import Progress

STUDENT = build("conv+bn")
LABELS = torch.tensor([0, 1, 2, 2, 1, 0, 0, 2])


def teacher() -> reweigh.MarginTeacher:
    return reweigh.MarginTeacher(STUDENT, layer="fc", num_classes=CLASSES).double()


def seen(state: torch.Tensor, labels: torch.Tensor = LABELS) -> reweigh.Seen:
    zeros = torch.zeros(len(labels), dtype=torch.float64)
    return reweigh.Seen(zeros, labels, {"fc:input": state}, Progress())


def states(seed: int) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(len(LABELS), 4, generator=draw, dtype=torch.float64)


def test_a_class_without_trusted_samples_silences_no_other() -> None:
    one, some = teacher(), torch.tensor([0, 1, 0, 1, 1, 0, 0, 1])
    one.notice_trusted(seen(states(0), some))
    m = one.margin(seen(states(1)))
    assert (m[LABELS == 2] == 0).all()
    assert float(m[LABELS < 2].abs().min()) > 1e-3


def test_weights_are_the_formula() -> None:
    one = teacher()
    one.notice_trusted(seen(states(0)))
    with torch.no_grad():
        one.bias.fill_(0.3)
    batch = seen(states(1))
    torch.testing.assert_close(one(batch), (4 * one.margin(batch) + 0.3).sigmoid())
    assert float(one(batch).detach().std()) > 0.05


def test_turned_shifted_and_scaled_states_weigh_the_same() -> None:
    turn = torch.linalg.qr(states(3)[:4]).Q

    def elsewhere(state: torch.Tensor) -> torch.Tensor:
        return 2.5 * state @ turn + torch.tensor([1.0, -2.0, 0.5, 3.0], dtype=torch.float64)

    here, there = teacher(), teacher()
    here.notice_trusted(seen(states(0)))
    there.notice_trusted(seen(elsewhere(states(0))))
    torch.testing.assert_close(there(seen(elsewhere(states(1)))), here(seen(states(1))))


def test_the_meta_gradient_is_exact() -> None:
    def make(student: torch.nn.Module) -> reweigh.Teacher:
        one = awake(reweigh.MarginTeacher(student, layer="fc", num_classes=CLASSES), student)
        one.notice_trusted(seen(states(0)))
        return one

    found, expected = compared(make)
    assert float(expected["scale"].abs()) > 1e-9
    assert relative_error(found, expected) <= 1e-10


def test_a_frozen_one_still_follows_the_trusted_samples() -> None:
    data = data_of("smooth", 4)
    student = build("smooth")
    one = reweigh.MarginTeacher(student, layer="fc", num_classes=CLASSES).double()
    one.requires_grad_(False)
    optimizer = torch.optim.SGD(student.parameters(), 0.1)
    held = reweigh.Reweigher(student, optimizer, one, trusted=data.trusted, every=2)
    known = []
    for batch in data.batches[:4]:
        assert not held.step(*batch).taught
        known.append(bool(one.class_means.known.any()))
    assert known == [False, True, True, True]  # every second step
    assert held.clock.updates == 2
    assert float(one.scale) == 4.0
    with pytest.raises(reweigh.errors.UsageError, match="give trusted="):
        reweigh.Reweigher(student, optimizer, one, every=2)
