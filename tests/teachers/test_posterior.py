"""The posterior teacher: weights by hand, trusted samples, an exact gradient, a matrix that waits."""

import pytest
import torch
from tests.metagrad.brute_force import relative_error
from tests.metagrad.exactness import compared, data_of
from tests.metagrad.students import CLASSES, awake, build

import reweigh
from reweigh.errors import UsageError
from reweigh.seen import Progress


def teacher(**options) -> reweigh.PosteriorTeacher:
    return reweigh.PosteriorTeacher(layer="fc", num_classes=3, **options).double()


def seen(p: list[list[float]], labels: list[int], ids: list[int] | None = None) -> reweigh.Seen:
    logits = torch.tensor(p, dtype=torch.float64).log()
    zeros = torch.zeros(len(labels), dtype=torch.float64)
    numbers = None if ids is None else torch.tensor(ids)
    states = {"fc:output": logits}
    return reweigh.Seen(zeros, torch.tensor(labels), states, Progress(), numbers)


def test_the_weight_by_hand() -> None:
    one = teacher(scale=2.0)  # the matrix starts with 2/3 on its diagonal and 1/6 beside it
    found = one(seen([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]], [0, 2]))
    q = [0.5 * 4 / (0.5 * 4 + 0.5), 0.2 * 4 / (0.2 * 4 + 0.8)]
    expected = torch.sigmoid(torch.tensor([2 * (2 * v - 1) for v in q]))
    assert found.tolist() == pytest.approx(expected.tolist(), abs=1e-6)


def test_a_trusted_sample_of_the_stream_is_believed() -> None:
    one = teacher(doubtful=10)
    q = one.quality(seen([[0.01, 0.98, 0.01]] * 2, [0, 0], ids=[9, 10]))
    assert q[0] < 0.1
    assert q[1] > 0.999999


def test_only_samples_in_doubt_move_the_matrix_and_only_at_an_update() -> None:
    one, start = teacher(doubtful=10), teacher()
    batch = seen([[0.01, 0.98, 0.01]] * 2, [0, 0], ids=[10, 11])
    one.notice(batch)
    assert torch.equal(one.matrix.joint, start.matrix.joint)
    one.notice(seen([[0.01, 0.98, 0.01]] * 2, [0, 0], ids=[0, 11]))
    assert one.matrix.joint[1, 0] > start.matrix.joint[1, 0]
    assert torch.equal(one.matrix.table, start.matrix.table)
    one.notice_trusted(batch)
    assert one.matrix.table[1, 0] > start.matrix.table[1, 0]


def corrected(logits: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """By hand, with the matrix that a teacher starts from."""
    matrix = 0.5 * torch.eye(CLASSES, dtype=logits.dtype) + 0.5 / CLASSES
    return -(logits.softmax(1) @ matrix).gather(1, y[:, None]).squeeze(1).log()


@pytest.mark.parametrize("trajectory", ["kept", "snapshots", "reversal"])
def test_the_meta_gradient_is_exact(trajectory: str) -> None:
    def make(student: torch.nn.Module) -> reweigh.Teacher:
        return awake(reweigh.PosteriorTeacher(layer="fc", num_classes=CLASSES), student)

    found, expected = compared(make, {"training_loss": corrected}, trajectory=trajectory)
    assert float(expected["scale"].abs()) > 1e-9
    assert relative_error(found, expected) <= 1e-10
    assert relative_error(found, compared(make, trajectory=trajectory)[1]) > 1e-3  # plain losses


def test_a_sure_label_has_the_plain_loss_and_other_batches_need_their_logits() -> None:
    student, (x, y) = build("conv+bn").eval(), data_of("conv+bn", 1).batches[0]
    one = awake(reweigh.PosteriorTeacher(layer="fc", num_classes=CLASSES), student)
    sure = torch.arange(len(y)) % 2 == 0
    losses, logits = one.corrected(student, (x, y, sure)), student(x)
    plain = torch.nn.functional.cross_entropy(logits, y, reduction="none")
    expected = torch.where(sure, plain, corrected(logits, y))
    torch.testing.assert_close(losses, expected, rtol=1e-6, atol=1e-9)
    with pytest.raises(UsageError, match="got a dict: give the teacher logits=f"):
        one.corrected(student, {"image": x, "label": y})
    one.logits = lambda net, batch: net(batch["image"])
    named = one.corrected(student, {"image": x, "label": y})
    torch.testing.assert_close(named, corrected(logits, y))


def test_one_class_is_refused() -> None:
    with pytest.raises(UsageError, match="num_classes must be at least 2, not 1"):
        reweigh.PosteriorTeacher(layer="fc", num_classes=1)
