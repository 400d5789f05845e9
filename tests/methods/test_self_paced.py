import pytest
import torch
from torch import Tensor, nn

from reweigh import Outcome, Reweigher
from reweigh.errors import UsageError
from reweigh.methods.self_paced import SelfPacedTeacher, ranks_within
from reweigh.student.seen import Progress, Seen

LOSSES = torch.tensor([0.1, 5.0, 0.3, 0.2, 4.0, 3.0, 1.0, 2.0])
LABELS = torch.tensor([7, 2, 7, 7, 2, 2, 7, 2])


def teacher(start: float = 0.0, full_at: float = 1.0, per_class: bool = True) -> SelfPacedTeacher:
    return SelfPacedTeacher(start_share=start, full_at=full_at, per_class=per_class)


def kept(who: SelfPacedTeacher, done: float, losses: Tensor = LOSSES) -> list[int]:
    labels = LABELS[: len(losses)]
    return who(Seen(losses, labels, {}, Progress(done))).nonzero().flatten().tolist()


@pytest.mark.parametrize(
    ("done", "expected"),
    [
        (0.0, [0, 7]),  # one of each class, though all of class 7 are easier than any of class 2
        (0.34, [0, 3, 5, 7]),
        (0.67, [0, 2, 3, 4, 5, 7]),
        (0.99, [0, 2, 3, 4, 5, 7]),
        (1.0, [0, 1, 2, 3, 4, 5, 6, 7]),
    ],
)
def test_the_easiest_of_each_class_are_kept(done: float, expected: list[int]) -> None:
    assert kept(teacher(), done) == expected


def test_without_classes_the_easiest_of_the_batch_are_kept() -> None:
    assert kept(teacher(per_class=False), 3 / 7) == [0, 2, 3, 6]


def test_the_kept_number_grows_linearly_over_the_run() -> None:
    losses = torch.rand(101, generator=torch.Generator().manual_seed(0))
    one = teacher(per_class=False)
    counts = [int(one(Seen(losses, None, {}, Progress(t / 100))).sum()) for t in range(101)]
    assert counts == [1 + t for t in range(101)]


def test_a_start_share_and_an_early_end() -> None:
    one = teacher(start=0.5, full_at=0.4)
    assert [one.share(t) for t in (0.0, 0.2, 0.4, 0.9)] == pytest.approx([0.5, 0.75, 1.0, 1.0])


def test_equal_losses_still_have_an_order() -> None:
    groups = torch.tensor([3, 1, 3, 1, 3])
    rank, size = ranks_within(torch.zeros(5), groups)
    assert rank.tolist() == [0, 0, 1, 1, 2]
    assert size.tolist() == [3, 2, 3, 2, 3]


def one_step(who: SelfPacedTeacher) -> tuple[Outcome, Tensor, Tensor]:
    """What came of a step, how it moved the student, and how the two kept samples would alone."""
    torch.manual_seed(0)
    student, x = nn.Linear(3, 8), torch.randn(8, 3)
    before = student.weight.detach().clone()
    losses = nn.functional.cross_entropy(student(x), LABELS, reduction="none")
    first = [min(LABELS.eq(c).nonzero().flatten(), key=lambda i: losses[i]) for c in (2, 7)]
    (alone,) = torch.autograd.grad(losses[torch.stack(first)].sum(), student.weight)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    outcome = Reweigher(student, optimizer, who, total_steps=10).step(x, LABELS)
    return outcome, student.weight.detach() - before, alone


def test_a_kept_sample_pulls_as_in_plain_training_and_the_others_do_not_move_the_student() -> None:
    outcome, moved, alone = one_step(teacher())
    assert sorted(set(outcome.weights.tolist())) == [0.0, 1 / 8]
    torch.testing.assert_close(moved, -0.1 * alone / 8)


def test_kept_samples_can_share_a_whole_step() -> None:
    who = SelfPacedTeacher(start_share=0.0, full_at=1.0, per_class=True, normalise="sum")
    outcome, moved, alone = one_step(who)
    assert sorted(set(outcome.weights.tolist())) == [0.0, 0.5]
    torch.testing.assert_close(moved, -0.1 * alone / 2)


def test_classes_are_asked_for_where_there_are_none() -> None:
    with pytest.raises(UsageError, match="per_class = false"):
        teacher()(Seen(LOSSES, None, {}, Progress(0.5)))
