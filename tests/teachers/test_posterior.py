"""The posterior teacher: weights by hand, trusted samples, an exact gradient, a matrix that waits."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from tests.metagrad.brute_force import relative_error
from tests.metagrad.exactness import compared, data_of
from tests.metagrad.students import CLASSES, awake, build
from torch import nn

import reweigh
from reweigh.errors import DivergedError, UnsupportedError, UsageError
from reweigh.student.seen import Progress


def teacher(**options) -> reweigh.PosteriorTeacher:
    return reweigh.PosteriorTeacher(layer="fc", num_classes=3, **options).double()


def seen(p: list[list[float]], labels: list[int], sure: list[bool] | None = None) -> reweigh.Seen:
    logits = torch.tensor(p, dtype=torch.float64).log()
    zeros = torch.zeros(len(labels), dtype=torch.float64)
    told = None if sure is None else torch.tensor(sure)
    states = {"fc:output": logits}
    return reweigh.Seen(zeros, torch.tensor(labels), states, Progress(), trusted=told)


def learned_from(one: reweigh.PosteriorTeacher, batch: reweigh.Seen) -> reweigh.Seen:
    """The same with the losses that the student has under this teacher."""
    losses = one.matrix.losses(batch.states["fc:output"], batch.labels, batch.trusted)
    return replace(batch, losses=losses)


def test_the_weight_by_hand() -> None:
    one = teacher(scale=2.0)  # the matrix starts with 2/3 on its diagonal and 1/6 beside it
    found = one(seen([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]], [0, 2]))
    q = [0.5 * 4 / (0.5 * 4 + 0.5), 0.2 * 4 / (0.2 * 4 + 0.8)]
    expected = torch.sigmoid(torch.tensor([2 * (2 * v - 1) for v in q]))
    assert found.tolist() == pytest.approx(expected.tolist(), abs=1e-6)


def test_a_trusted_sample_of_the_stream_is_believed() -> None:
    one = teacher(trusted_in_stream=True)
    q = one.quality(seen([[0.01, 0.98, 0.01]] * 2, [0, 0], sure=[False, True]))
    assert q[0] < 0.1
    assert q[1] > 0.999999


def test_only_samples_in_doubt_move_the_matrix_and_only_at_an_update() -> None:
    one, start = teacher(trusted_in_stream=True), teacher()
    batch = seen([[0.01, 0.98, 0.01]] * 2, [0, 0], sure=[True, True])
    one.notice(learned_from(one, batch))
    assert torch.equal(one.matrix.joint, start.matrix.joint)
    assert torch.equal(one.length.squares, start.length.squares)
    one.notice(seen([[0.01, 0.98, 0.01]] * 2, [0, 0], sure=[False, True]))
    assert one.matrix.joint[1, 0] > start.matrix.joint[1, 0]
    assert torch.equal(one.matrix.table, start.matrix.table)
    assert one.length.squares[0] > one.length.squares[1]
    assert one.length.value == 1
    one.notice_trusted(batch)
    assert one.matrix.table[1, 0] > start.matrix.table[1, 0]
    assert one.length.value > 1


FIRST = data_of("conv+bn", 2).batches[0][1]
"""Labels of the first batch."""


def corrected(logits: torch.Tensor, y: torch.Tensor, first: torch.Tensor = FIRST) -> torch.Tensor:
    """By hand, with the matrix that a teacher starts from: wrong labels in the shares of the first
    batch's, each class once more."""
    counts = torch.bincount(first, minlength=CLASSES).to(logits.dtype) + 1
    matrix = 0.5 * torch.eye(CLASSES, dtype=logits.dtype) + 0.5 * counts / counts.sum()
    return -(logits.softmax(1) @ matrix).gather(1, y[:, None]).squeeze(1).log()


ALLOWED = {"kept": 1e-10, "snapshots": 1e-10, "reversal": 1e-10, "finite": 1e-6}


def towards(logits: torch.Tensor, y: torch.Tensor, average: torch.Tensor) -> torch.Tensor:
    """Cross-entropy with the average student's posteriors as soft labels, by hand."""
    counts = torch.bincount(FIRST, minlength=CLASSES).to(logits.dtype) + 1
    matrix = 0.5 * torch.eye(CLASSES, dtype=logits.dtype) + 0.5 * counts / counts.sum()
    q = average.softmax(1) * matrix[:, y].T
    return F.cross_entropy(logits, q / q.sum(1, keepdim=True), reduction="none")


def longer(length: float, average: float = 0.0):
    """A teacher whose steps are that much longer, and its training loss by hand."""

    def make(student: torch.nn.Module) -> reweigh.Teacher:
        one = reweigh.PosteriorTeacher(layer="fc", num_classes=CLASSES, average=average).double()
        one.meet(FIRST)  # for unrolled autograd, which has no loop around it
        one.length.value.fill_(length)
        return awake(one, student)

    by_hand = towards if average else corrected
    return make, lambda logits, y, *calm: length * by_hand(logits, y, *calm)


@pytest.mark.parametrize("trajectory", ALLOWED)
@pytest.mark.parametrize("length", [1.0, 1.7])
def test_the_meta_gradient_is_exact(trajectory: str, length: float) -> None:
    make, by_hand = longer(length)
    found, expected = compared(make, {"training_loss": by_hand}, trajectory=trajectory)
    assert float(expected["scale"].abs()) > 1e-9
    assert relative_error(found, expected) <= ALLOWED[trajectory]
    assert relative_error(found, compared(make, trajectory=trajectory)[1]) > 1e-3  # plain losses


@pytest.mark.parametrize("trajectory", ALLOWED)
def test_the_meta_gradient_is_exact_through_the_average(trajectory: str) -> None:
    """Its answers are targets and weights' reasons, and constants: of the step's own θ̄, not a later one."""
    make, by_hand = longer(1.7, average=0.9)
    found, expected = compared(make, {"training_loss": by_hand}, trajectory=trajectory)
    assert float(expected["scale"].abs()) > 1e-9
    assert relative_error(found, expected) <= ALLOWED[trajectory]
    own = compared(longer(1.7)[0], {"training_loss": longer(1.7)[1]}, trajectory=trajectory)[0]
    assert relative_error(found, own) > 1e-3


def test_the_deeper_meta_gradient_is_exact_with_longer_steps() -> None:
    """√(a/b) multiplies all of the objective, ∂w/∂θ too."""
    make, by_hand = longer(1.7)
    found, expected = compared(make, {"training_loss": by_hand, "deeper": True}, deeper=True)
    assert relative_error(found, expected) <= 1e-9


class Verbose(nn.Sequential):
    """Answers with more than its logits."""

    def forward(self, x):
        return {"logits": super().forward(x)}


def test_the_students_answer_is_its_logits_unless_a_layer_is_named() -> None:
    x, y = torch.randn(9, 4, generator=torch.Generator().manual_seed(0)), torch.arange(9) % 3

    def learned(kind: type[nn.Sequential], **options) -> list[torch.Tensor]:
        torch.manual_seed(0)
        student = kind(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))
        own = {"per_sample_loss": spoken} if kind is Verbose else {}
        teacher = reweigh.PosteriorTeacher(num_classes=3, **options)
        optimizer = torch.optim.SGD(student.parameters(), 0.1)
        held = reweigh.Reweigher(student, optimizer, teacher, trusted=(x, y), every=2, **own)
        for _ in range(4):
            held.step(x, y)
        return [*student.parameters(), *teacher.parameters()]

    def logits(student, batch):
        return student(batch[0])["logits"]

    def spoken(student, batch):
        return F.cross_entropy(logits(student, batch), batch[1], reduction="none")

    bare = learned(nn.Sequential)
    for same in (learned(nn.Sequential, layer="2"), learned(Verbose, layer="2", logits=logits)):
        assert all(torch.equal(a, b) for a, b in zip(bare, same, strict=True))
    with pytest.raises(
        UsageError, match=r"output of the student itself is dict.* name another layer"
    ):
        learned(Verbose, logits=logits)


def test_a_layer_that_is_not_the_last_is_told_apart_from_the_logits() -> None:
    class Two(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.last = torch.nn.Linear(4, 3), torch.nn.Linear(3, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.last(self.inner(x))

    def step(layer: str) -> None:
        torch.manual_seed(0)
        student = Two()
        optimizer = torch.optim.SGD(student.parameters(), 0.1)
        x, y = torch.randn(6, 4) * 9, torch.arange(6) % 3
        one = reweigh.PosteriorTeacher(layer=layer, num_classes=3)
        reweigh.Reweigher(student, optimizer, one, trusted=(x, y)).step(x, y)

    step("last")
    with pytest.raises(UsageError, match="layer 'inner' is not the logits"):
        step("inner")


def test_a_rare_class_that_overlaps_a_common_one_is_not_explained_away() -> None:
    """Clean labels, 94/5/1 %: without a floor the matrix calls the rare ones noise of the first."""
    drawn = torch.Generator().manual_seed(1)
    centres = torch.tensor([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])

    def draw(n: int, shares: list[float]) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.multinomial(torch.tensor(shares), n, True, generator=drawn)
        return centres[y] + 0.7 * torch.randn(n, 2, generator=drawn), y

    (x, y), trusted = draw(6000, [0.94, 0.05, 0.01]), draw(90, [1 / 3] * 3)
    torch.manual_seed(1)
    student = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.ReLU(), torch.nn.Linear(32, 3))
    one = reweigh.PosteriorTeacher(layer="2", num_classes=3)
    optimizer = torch.optim.SGD(student.parameters(), 0.1, momentum=0.9)
    loop = reweigh.Reweigher(student, optimizer, one, trusted=trusted, every=5, through=1)
    for _ in range(300):
        part = torch.randint(len(x), (64,), generator=drawn)
        loop.step(x[part], y[part])
    fresh, truth = draw(900, [1 / 3] * 3)
    right = student(fresh).argmax(1) == truth
    for c in range(3):
        assert float(right[truth == c].float().mean()) > 0.3
        assert one.matrix.table[c, c] > 0.999 * one.matrix.table[c].max()


def test_a_sure_label_has_the_plain_loss() -> None:
    student, (x, y) = build("conv+bn").eval(), data_of("conv+bn", 1).batches[0]
    one = reweigh.PosteriorTeacher(layer="fc", num_classes=CLASSES, trusted_in_stream=True)
    one, sure = one.double(), torch.arange(len(y)) % 2 == 0
    one.meet(FIRST)  # trusted samples hold the matrix, so that labels do not matter
    losses, logits = one.corrected(student, (x, y, sure)), student(x)
    plain = torch.nn.functional.cross_entropy(logits, y, reduction="none")
    expected = torch.where(sure, plain, corrected(logits, y, torch.arange(CLASSES)))
    torch.testing.assert_close(losses, expected, rtol=1e-6, atol=1e-9)
    for batch in ((x, y), {"x": x, "y": y}, (x, y, sure[1:])):
        with pytest.raises(UsageError, match=f"which of the {len(y)} samples are trusted"):
            one.corrected(student, batch)
    with pytest.raises(UsageError, match="the third a bool tensor"):
        one.quality(seen([[0.5, 0.3, 0.2]], [0]))
    one.logits = lambda net, batch: net(batch["x"])
    torch.testing.assert_close(one.corrected(student, {"x": x, "y": y, "trusted": sure}), losses)


def test_other_batches() -> None:
    student, (x, y) = build("conv+bn").eval(), data_of("conv+bn", 1).batches[0]
    one = reweigh.PosteriorTeacher(layer="fc", num_classes=CLASSES).double()
    expected = corrected(student(x), y, torch.arange(CLASSES))  # met no batch so far
    mask = torch.ones(len(y), dtype=torch.bool)  # no word on trust, for nobody asked
    torch.testing.assert_close(one.corrected(student, (x, y, mask)), expected)
    with pytest.raises(UsageError, match="got a dict: give the teacher logits=f"):
        one.corrected(student, {"image": x, "label": y})
    one.logits = lambda net, batch: net(batch["image"])
    torch.testing.assert_close(one.corrected(student, {"image": x, "label": y}), expected)


def test_low_precision_stays_out_of_the_loss() -> None:
    matrix = teacher().float().matrix
    logits = torch.tensor([[9.0, 0.5, 0.25], [4.0, 2.0, 0.0]])
    given = torch.tensor([0, 1])
    exact = matrix.losses(logits, given)
    found = matrix.losses(logits.bfloat16(), given)  # these logits are exact in bfloat16
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, exact)


def test_what_is_no_answer_over_the_classes_is_refused() -> None:
    one = teacher()
    with pytest.raises(UsageError, match=r"logits over 3 classes are needed.*\(2, 4\)"):
        one.matrix.losses(torch.zeros(2, 4), torch.tensor([0, 1]))
    for label in (-100, 3):
        with pytest.raises(UsageError, match=f"label {label} is not one of 0 … 2"):
            teacher().matrix.losses(torch.zeros(2, 3), torch.tensor([0, label]))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("sure", [False, True])
def test_autocast_around_the_whole_step(dtype: torch.dtype, sure: bool) -> None:
    """A confident student of flipped labels: squares that float16 would take for 0."""
    torch.manual_seed(0)
    x, y = 9 * F.one_hot(torch.arange(24) % 3, 3).float(), (torch.arange(24) + 1) % 3
    batch = (x, y, torch.arange(24) < 6) if sure else (x, y)
    student = nn.Linear(3, 3)
    one = reweigh.PosteriorTeacher(num_classes=3, trusted_in_stream=sure)
    optimizer = torch.optim.SGD(student.parameters(), 0.1)
    held = reweigh.Reweigher(student, optimizer, one, trusted=(x, y), every=2)
    for _ in range(6):
        with torch.autocast("cpu", dtype):
            held.step(*batch)
    assert held.clock.updates == 3
    assert all(b.isfinite().all() for b in one.buffers())
    assert one.matrix.joint.dtype == one.length.squares.dtype == torch.float32
    assert one.length.value > 1


def test_a_batch_that_is_refused_leaves_no_mark() -> None:
    student, data = build("conv+bn"), data_of("conv+bn", 2)
    one = reweigh.PosteriorTeacher(layer="fc", num_classes=CLASSES).double()
    held = reweigh.Reweigher(
        student, torch.optim.SGD(student.parameters(), 0.1), one, trusted=data.trusted, every=2
    )
    x, y = data.batches[0]
    with pytest.raises(DivergedError, match="per-sample losses"):
        held.step(x * float("nan"), y)
    for buffer in student.buffers():  # running statistics of the batch are the loop's to mend
        buffer.nan_to_num_(0)
    for batch in data.batches:
        held.step(*batch)
    assert held.clock.updates == 2
    assert all(b.isfinite().all() for b in one.buffers())
    assert held.clock.loss_sum.isfinite()


def test_weights_for_the_loop_s_own_loss_are_refused() -> None:
    student, data = build("conv+bn"), data_of("conv+bn", 1)
    held = reweigh.Reweigher(
        student,
        torch.optim.SGD(student.parameters(), 0.1),
        reweigh.PosteriorTeacher(layer="fc", num_classes=CLASSES).double(),
        trusted=data.trusted,
    )
    with pytest.raises(
        UnsupportedError, match="PosteriorTeacher has the student learn from a loss"
    ):
        held.weights(*data.batches[0])
    assert held.loss(*data.batches[0]).requires_grad


def test_one_class_is_refused() -> None:
    with pytest.raises(UsageError, match="num_classes must be at least 2, not 1"):
        reweigh.PosteriorTeacher(layer="fc", num_classes=1)


class Answer:
    """As Hugging Face's models answer."""

    def __init__(self, logits: torch.Tensor) -> None:
        self.logits = logits


class Answering(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = torch.nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> Answer:
        return Answer(self.body(x))


def test_the_logits_of_an_answer_that_holds_more_are_read() -> None:
    torch.manual_seed(0)
    student, x, y = Answering(), torch.randn(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    teacher = reweigh.PosteriorTeacher(num_classes=3)
    outcome = reweigh.Reweigher(student, optimizer, teacher, trusted=(x, y)).step(x, y)
    assert outcome.weights.shape == (6,)


def clouds(n: int, shares: list[float], draw: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    y = torch.multinomial(torch.tensor(shares), n, replacement=True, generator=draw)
    centres = torch.tensor([[0.0, 0.0], [3.0, 0.0], [0.9, 1.6]])
    return centres[y] + 0.9 * torch.randn(n, 2, generator=draw), y


@pytest.mark.parametrize("stream", [False, True])
def test_a_class_without_trusted_samples_is_not_explained_away(stream: bool, caplog) -> None:
    """It was: under right labels its recall fell from 0.4 to 0, and nothing was said."""
    draw = torch.Generator().manual_seed(0)
    (x, y), (sure_x, sure_y) = (
        clouds(3000, [0.47, 0.47, 0.06], draw),
        clouds(300, [0.5, 0.5, 0], draw),
    )
    torch.manual_seed(0)
    student = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 3))
    held = reweigh.Reweigher(
        student, torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9),
        reweigh.PosteriorTeacher(num_classes=3, trusted_in_stream=stream), trusted=(sure_x, sure_y),
    )  # fmt: skip
    for _ in range(600):
        some, sure = torch.randint(3000, (60,), generator=draw), torch.arange(6)
        if stream:
            both = torch.cat([x[some], sure_x[sure]]), torch.cat([y[some], sure_y[sure]])
            held.step(*both, torch.arange(66) >= 60)
        else:
            held.step(x[some], y[some])
    test_x, test_y = clouds(3000, [1 / 3] * 3, draw)
    recall = (student(test_x).argmax(1) == test_y)[test_y == 2].float().mean()
    assert recall > 0.25
    assert [r.getMessage()[:34] for r in caplog.records] == ["no trusted sample is of class 2: i"]
