"""The agreement teacher: margins by hand, means that follow trusted batches, an exact gradient."""

import pytest
import torch
import torch.nn.functional as F
from tests.metagrad.brute_force import relative_error
from tests.metagrad.exactness import compared, data_of
from tests.metagrad.students import CLASSES, awake, build

import reweigh
from reweigh.student.seen import Progress

STUDENT = build("conv+bn")


def teacher(**options) -> reweigh.AgreementTeacher:
    made = reweigh.AgreementTeacher(STUDENT, layer="fc", num_classes=CLASSES, **options)
    return made.double()


def seen(states: list[list[float]], labels: list[int]) -> reweigh.Seen:
    state = torch.tensor(states, dtype=torch.float64)
    zeros = torch.zeros(len(labels), dtype=torch.float64)
    return reweigh.Seen(zeros, torch.tensor(labels), {"fc:input": state}, Progress())


CORNERS = [[3.0, 0, 0, 0], [0, 3.0, 0, 0], [0, 0, 3.0, 0]]


def test_the_margin_by_hand() -> None:
    one = teacher()
    one.notice_trusted(seen(CORNERS, [0, 1, 2]))
    # means minus their centre (1, 1, 1, 0): (2, −1, −1, 0) and so on, with cosines of −1/2
    found = one.margin(seen([[3.0, 0, 0, 0], [3.0, 0, 0, 0], [1.0, 2.0, 1.0, 0]], [0, 1, 0]))
    # state − centre: (2, −1, −1) twice; (0, 1, 0) has cosines −1/√6, 2/√6, −1/√6
    expected = [1 - -0.5, -0.5 - 1, (-1 - 2) / 6**0.5]
    assert found.tolist() == pytest.approx(expected, abs=1e-6)


def test_the_margin_again_in_plain_loops() -> None:
    draw = torch.Generator().manual_seed(0)
    states = torch.randn(9, 4, generator=draw, dtype=torch.float64)
    labels = [0, 1, 2] * 3
    one = teacher()
    one.notice_trusted(seen(states.tolist(), labels))
    means = torch.stack([states[c::3].mean(0) for c in range(3)])
    centre = means.mean(0)
    other = torch.randn(5, 4, generator=draw, dtype=torch.float64)
    given = [2, 0, 1, 1, 0]
    found = one.margin(seen(other.tolist(), given))
    for k, y in enumerate(given):
        kappa = [float(F.cosine_similarity(other[k] - centre, m - centre, dim=0)) for m in means]
        rival = max(kappa[j] for j in range(3) if j != y)
        assert float(found[k]) == pytest.approx(kappa[y] - rival, abs=1e-6)


def test_it_is_0_for_classes_that_were_not_seen_and_with_fewer_than_two() -> None:
    one = teacher()
    batch = seen(CORNERS, [0, 1, 2])
    assert one.margin(batch).tolist() == [0, 0, 0]
    one.notice_trusted(seen(CORNERS[:1], [0]))
    assert one.margin(batch).tolist() == [0, 0, 0]
    torch.testing.assert_close(one(batch), one(batch)[:1].expand(3))  # all weigh alike
    one.notice_trusted(seen(CORNERS[1:2], [1]))
    assert one.margin(batch).tolist() == [2, 2, 0]
    one.notice_trusted(seen(CORNERS[2:], [2]))
    assert one.margin(batch).tolist() == pytest.approx([1.5] * 3, abs=1e-6)


def test_means_follow_trusted_batches_class_by_class() -> None:
    one = teacher(decay=0.75)
    one.notice_trusted(seen([[2.0, 0, 0, 0], [4.0, 0, 0, 0], [0, 1.0, 0, 0]], [0, 0, 1]))
    assert one.class_means.means[:, :2].tolist() == [
        [3, 0],
        [0, 1],
        [0, 0],
    ]  # the first batch is taken whole
    one.notice_trusted(seen([[7.0, 4.0, 0, 0]], [0]))
    assert one.class_means.means[:, :2].tolist() == [[4, 1], [0, 1], [0, 0]]  # a quarter of the way
    assert (one.class_means.known > 0).tolist() == [True, True, False]


def test_weights_are_the_formula() -> None:
    one = awake(teacher(), STUDENT)
    one.notice_trusted(seen(CORNERS, [0, 1, 2]))
    batch = seen([[1.0, 2.0, 0.5, 1.0], [0.3, 0, 1.0, 2.0]], [1, 0])
    state, y = batch.states["fc:input"], batch.labels
    logit = one.scale * one.margin(batch) + (state * one.directions[y]).sum(1) + one.bias[y]
    torch.testing.assert_close(one(batch), logit.sigmoid())


@pytest.mark.parametrize("trajectory", ["kept", "snapshots", "reversal"])
def test_the_meta_gradient_is_exact(trajectory: str) -> None:
    def make(student: torch.nn.Module) -> reweigh.Teacher:
        one = reweigh.AgreementTeacher(student, layer="fc", num_classes=CLASSES)
        one = awake(one, student)
        one.notice_trusted(seen(CORNERS, [0, 1, 2]))
        return one

    found, expected = compared(make, trajectory=trajectory)
    assert float(expected["scale"].abs()) > 1e-9
    assert relative_error(found, expected) <= 1e-10


def test_the_reweigher_shows_it_the_trusted_batches() -> None:
    data = data_of("smooth", 2)
    student = build("smooth")
    one = reweigh.AgreementTeacher(student, layer="fc", num_classes=CLASSES).double()
    optimizer = torch.optim.SGD(student.parameters(), 0.1)
    held = reweigh.Reweigher(student, optimizer, one, trusted=data.trusted, every=2)
    held.step(*data.batches[0])
    assert not one.class_means.known.any()
    held.step(*data.batches[1])
    seen_classes = torch.zeros(CLASSES, dtype=torch.bool).index_fill(0, data.trusted[1], True)
    assert torch.equal(one.class_means.known > 0, seen_classes)
