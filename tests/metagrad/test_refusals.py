"""What cannot be right is refused by name, before training where it can be known."""

import logging
import pickle

import pytest
import torch
import torch.nn.functional as F
from tests.metagrad.exactness import by_engine, data_of
from tests.metagrad.students import CLASSES, Smooth, build, data_for, interaction
from torch import nn

import reweigh
from reweigh.errors import DivergedError, NonFiniteSamples, UnsupportedError, UsageError

DATA = data_for("smooth", 3)


def held(student=None, optimizer=None, teacher=None, **options):
    student = build("smooth") if student is None else student
    optimizer = optimizer or torch.optim.SGD(student.parameters(), 0.1, momentum=0.9)
    teacher = teacher or interaction(student)
    return reweigh.Reweigher(
        student, optimizer, teacher, **({"trusted": DATA.trusted, "every": None} | options)
    )


def test_a_reduced_loss():
    with pytest.raises(UsageError, match=r'shape \(\) for a batch of 4 .*reduction="none"'):
        held(per_sample_loss=lambda s, b: F.cross_entropy(s(b[0]), b[1])).step(*DATA.batches[0])


def test_a_loss_of_another_length():
    def per_logit(student, batch):
        return student(batch[0]).flatten()

    with pytest.raises(UsageError, match=r"shape \(12,\) for a batch of 4 .*\(4,\) is needed"):
        held(per_sample_loss=per_logit).step(*DATA.batches[0])


@pytest.mark.parametrize("trajectory", ["kept", "snapshots", "finite"])
def test_a_loss_that_reaches_parameters_past_the_student(trajectory):
    """A list of parameters made before still holds the old ones where the student stands elsewhere."""
    student = build("smooth")
    captured = list(student.parameters())

    def decayed(module, batch):
        losses = F.cross_entropy(module(batch[0]), batch[1], reduction="none")
        return losses + 0.1 * sum(p.square().sum() for p in captured)

    with pytest.raises(UnsupportedError, match=r"uses parameter '\w+\.weight' without"):
        held(student, per_sample_loss=decayed, trajectory=trajectory).step(*DATA.batches[0])


def test_a_student_that_writes_into_its_parameters_when_it_answers():
    class Renormed(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(5, 4, max_norm=0.1)
            self.fc = nn.Linear(4, CLASSES)

        def forward(self, x):
            return self.fc(self.embed(x))

    student, x, y = Renormed(), torch.arange(4), torch.zeros(4, dtype=torch.int64)
    with pytest.raises(UnsupportedError, match=r"writes into its parameter 'embed.weight'"):
        held(student, trusted=(x, y)).step(x, y)


class Remembering(reweigh.Teacher):
    """Weighs by a running mean of losses that moves with every batch."""

    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.tensor(5.0, dtype=torch.float64))
        self.register_buffer("mean", torch.zeros((), dtype=torch.float64))

    def notice(self, seen):
        self.mean = 0.5 * self.mean + seen.losses.mean()

    def forward(self, seen):
        return (self.slope * (seen.losses - self.mean)).sigmoid()


@pytest.mark.parametrize("accumulate", [1, 2])
def test_a_teacher_whose_statistics_moved_since_a_recorded_step(accumulate):
    one = held(teacher=Remembering(), through=2, accumulate=accumulate)
    for batch in DATA.batches[:2]:
        one.step(*batch)
        one.flush()
    with pytest.raises(UsageError, match="weights of a recorded batch have changed"):
        one.teach()


def test_a_loss_that_is_no_tensor():
    with pytest.raises(UsageError, match="returned a float, but a tensor of 4 losses"):
        held(per_sample_loss=lambda s, b: 0.5).step(*DATA.batches[0])


def wrapped():
    class DistributedDataParallel(nn.Module):
        """Known by its name; a real one needs a process group."""

        def __init__(self):
            super().__init__()
            self.module = Smooth()

    return {
        "DataParallel": nn.DataParallel(Smooth()),
        "OptimizedModule": torch.compile(Smooth()),
        "DistributedDataParallel": DistributedDataParallel(),
        "inside": nn.Sequential(nn.Linear(2, 2), torch.compile(nn.Linear(2, 2))),
    }


@pytest.mark.filterwarnings("ignore:.torch.jit.script_method. is deprecated:DeprecationWarning")
@pytest.mark.parametrize(
    "kind", ["DataParallel", "OptimizedModule", "DistributedDataParallel", "inside"]
)
def test_wrapped_students(kind):
    student = wrapped()[kind]
    name = "OptimizedModule" if kind == "inside" else kind
    teacher = reweigh.LossCurveTeacher(5)
    with pytest.raises(UnsupportedError, match=f"wrapped in {name} is not supported: .*give"):
        held(student, teacher=teacher)


def test_a_student_compiled_in_place():
    student = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    student[0].compile()
    with pytest.raises(UnsupportedError, match="compiled in place is not supported"):
        held(student, teacher=reweigh.LossCurveTeacher(5))


class SGD(torch.optim.SGD):
    """A step of its own under a known name."""


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda p: torch.optim.RMSprop(p),
            "through torch.optim.*RMSprop: use one of torch.optim.SGD",
        ),
        (lambda p: torch.optim.Adam(p, amsgrad=True), r"Adam\(amsgrad=True\).*amsgrad=False"),
        (lambda p: SGD(p, 0.1), "cannot differentiate through .*test_refusals.SGD"),
        (lambda p: torch.optim.SGD(p, 0.1, differentiable=True), r"SGD\(differentiable=True\)"),
    ],
)
def test_optimizers_that_cannot_be_differentiated_through(make, sentence):
    student = build("smooth")
    with pytest.raises(UnsupportedError, match=sentence):
        held(student, make(student.parameters()))


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda p: torch.optim.Adam(p), "Adam"),
        (lambda p: torch.optim.SGD(p, 0.1), r"momentum=0"),
        (lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True), "nesterov=True"),
    ],
)
def test_reversal_where_the_update_cannot_be_undone(make, named):
    student = build("smooth")
    with pytest.raises(UnsupportedError, match=f"{named}.*use trajectory='snapshots'"):
        held(student, make(student.parameters()), trajectory="reversal")


def test_parameters_of_somebody_else():
    student, other = build("smooth"), nn.Linear(7, 2)
    optimizer = torch.optim.SGD([*student.parameters(), *other.parameters()], 0.1)
    with pytest.raises(UsageError, match=r"2 parameter\(s\) that are not the student's .*\(2, 7\)"):
        held(student, optimizer)


def test_an_optimizer_of_a_part_of_the_student():
    student = build("smooth")
    with pytest.raises(UnsupportedError, match=r"'first\.weight'.*freeze it"):
        held(student, torch.optim.SGD(student.fc.parameters(), 0.1))


def test_a_wholly_frozen_student():
    student = build("smooth").requires_grad_(False)
    with pytest.raises(UsageError, match="no trainable parameter"):
        held(student)


class Words(nn.Module):
    def __init__(self, sparse):
        super().__init__()
        self.words = nn.Embedding(9, 4, sparse=sparse)
        self.fc = nn.Linear(4, CLASSES)

    def forward(self, x):
        return self.fc(self.words(x).mean(1))


def test_sparse_gradients():
    with pytest.raises(UnsupportedError, match=r"Embedding\(sparse=True\).*sparse=False"):
        held(Words(sparse=True), optimizer=None)


def test_counts():
    with pytest.raises(UsageError, match="through=5 is more than every=2"):
        held(every=2, through=5)
    for name in ("every", "through", "accumulate"):
        with pytest.raises(UsageError, match=f"{name} must be a whole number of at least 1, not 0"):
            held(**{name: 0})
    with pytest.raises(UsageError, match="clip_norm must be a positive number, not 0"):
        held(clip_norm=0.0)


def test_words_that_are_not_known():
    with pytest.raises(UsageError, match=r"trajectory must be one of auto, .*not 'sideways'"):
        held(trajectory="sideways")


def test_an_unknown_layer_is_answered_with_the_nearest():
    student = build("conv+bn")
    with pytest.raises(UsageError, match=r"no layer named 'norms'; did you mean .*norm"):
        reweigh.InteractionTeacher(student, layer="norms", num_classes=3)


def test_a_layer_that_does_not_run():
    student = build("shared+frozen+unused")
    teacher = reweigh.LinearTeacher([reweigh.InternalState(student, "unused")]).double()
    with pytest.raises(UsageError, match="layer 'unused' exists but did not run"):
        held(student, teacher=teacher).step(*DATA.batches[0])


class Fixed(reweigh.Teacher):
    """Says whatever it is told to."""

    def __init__(self, values):
        super().__init__()
        self.values = nn.Parameter(torch.as_tensor(values, dtype=torch.float64))

    def forward(self, seen):
        return self.values


def test_weights_that_are_none():
    with pytest.raises(UsageError, match=r"negative weight \(-0.5\); end it with a sigmoid"):
        held(teacher=Fixed([1.0, -0.5, 1.0, 1.0])).step(*DATA.batches[0])
    with pytest.raises(UsageError, match=r"shape \(3,\) for 4 samples"):
        held(teacher=Fixed([1.0, 1.0, 1.0]), trajectory="finite").step(*DATA.batches[0])


def test_a_loss_that_is_not_finite_names_its_samples():
    x, y = DATA.batches[0]
    x = x.clone()
    x[2] = float("nan")
    with pytest.raises(DivergedError, match=r"losses hold nan for samples \(positions.*\) \[2\]"):
        held().step(x, y)
    with pytest.raises(DivergedError, match=r"losses hold nan for samples \(ids\) \[77\]"):
        held().step(x, y, ids=torch.tensor([5, 6, 77, 8]))


def test_an_error_that_names_samples_travels_between_processes():
    error = NonFiniteSamples("weights hold inf", "ids", list(range(12)))
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert "hold inf for samples (ids) [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] and 2 more" in str(again)


def test_a_meta_gradient_that_is_not_finite_names_its_parameter():
    reweigher = held(trajectory="snapshots")
    reweigher.step(*DATA.batches[0])
    before = [p.detach().clone() for p in reweigher.teacher.parameters()]
    x, y = DATA.trusted
    with pytest.raises(DivergedError, match=r"losses of trusted samples .* \[0, 1, 2, 3, 4\]"):
        reweigher.teach((x * float("inf"), y))
    for p in reweigher.engine.steps[0].theta.values():
        p.mul_(float("inf"))
    with pytest.raises(DivergedError, match="meta-gradient of the teacher's parameter 'bias'"):
        reweigher.teach(DATA.trusted)
    assert all(map(torch.equal, before, reweigher.teacher.parameters()))


def test_trusted_samples_that_are_missing_or_used_up():
    with pytest.raises(UsageError, match="give trusted="):
        held(trusted=None)
    for empty in ([], iter([])):
        reweigher = held(trusted=empty)
        reweigher.step(*DATA.batches[0])
        with pytest.raises(UsageError, match="trusted="):
            reweigher.teach()


def test_a_malformed_trusted_batch_is_found_at_the_first_step():
    with pytest.raises(UsageError, match=r"takes batches \(x, y\)"):
        held(trusted=[{"x": DATA.trusted[0]}], every=20).step(*DATA.batches[0])


def test_nothing_recorded():
    with pytest.raises(UsageError, match="no recorded step to go back over"):
        held().meta_gradient(DATA.trusted)


def test_deeper_interaction_has_limits():
    with pytest.raises(UnsupportedError, match="accumulate=1"):
        held(deeper=True, accumulate=2)
    with pytest.raises(UnsupportedError, match=r"use loss\(\)"):
        held(deeper=True).weights(*DATA.batches[0])
    with pytest.raises(UnsupportedError, match="deeper"):
        held(deeper=True, trajectory="finite")


def test_a_teacher_with_dropout():
    teacher = Fixed([1.0])
    teacher.drop = nn.Dropout(0.5)
    with pytest.raises(UnsupportedError, match="a teacher with Dropout"):
        held(teacher=teacher)


def test_a_step_without_a_batch():
    with pytest.raises(UsageError, match="needs a batch"):
        held().step()


def test_fused_attention_is_replayed_by_the_math_kernel_and_said(caplog):
    caplog.set_level(logging.INFO, "reweigh")
    data = data_of("attention", 2)
    _, _, reweigher = by_engine("attention", "sgd", data, through=2, trajectory="snapshots")
    assert reweigher.engine.derivatives.kernels.plain_attention
    assert "recorded steps and replays run with attention by the MATH kernel" in caplog.text


@pytest.mark.parametrize("how", ["step", "loss"])
def test_a_recorded_pass_runs_on_the_kernels_of_its_replay(how):
    """Whoever goes backward: fused and plain attention draw other dropout masks on a GPU."""
    data = data_of("attention", 2)
    _, student, reweigher = by_engine("attention", "sgd", data, through=2, trajectory="snapshots")
    fused: list[bool] = []
    handle = student.register_forward_hook(
        lambda *_: fused.append(torch.backends.cuda.flash_sdp_enabled())
    )
    getattr(reweigher, how)(*data.batches[0])
    handle.remove()
    assert fused == [False]
    assert torch.backends.cuda.flash_sdp_enabled()


class Stubborn(torch.autograd.Function):
    """A kernel whose backward cannot be differentiated."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        return g * 2


class Opaque(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.fc = nn.Linear(4, 5), nn.Linear(5, CLASSES)

    def forward(self, x):
        return self.fc(Stubborn.apply(self.first(x).tanh()))


@pytest.mark.parametrize("through", [1, 2])
def test_a_kernel_without_second_derivative_is_refused_on_the_first_batch(through):
    """Asked past such a kernel, autograd would miss its share without a word."""
    with pytest.raises(UnsupportedError, match=r"@once_differentiable.*trajectory='finite'"):
        held(Opaque().double(), through=through).step(*DATA.batches[0])


def test_looking_ahead_past_a_kernel_that_has_only_a_tangent():
    """B is 1, yet Meta-Weight-Net's way goes backward twice."""

    class WithTangent(Stubborn):
        @staticmethod
        def jvp(ctx, tangent):
            return 2.0 * tangent

    class Tangent(Opaque):
        def forward(self, x):
            return self.fc(WithTangent.apply(self.first(x).tanh()))

    held(Tangent().double(), every=1, through=1).step(*DATA.batches[0])  # a tangent is enough
    with pytest.raises(UnsupportedError, match="@once_differentiable"):
        held(Tangent().double(), every=1, lookahead=True).step(*DATA.batches[0])


def test_looking_ahead_needs_a_rhythm_and_one_batch_a_step():
    with pytest.raises(UsageError, match="lookahead=True teaches before every K-th step"):
        held(lookahead=True, every=None)
    with pytest.raises(UnsupportedError, match="accumulate=2 makes a step of several"):
        held(lookahead=True, every=1, accumulate=2)
    with pytest.raises(UsageError, match="one virtual step, not through=2"):
        held(lookahead=True, every=5, through=2)


def test_the_fallback_takes_such_a_kernel():
    reweigher = held(Opaque().double(), trajectory="finite")
    reweigher.step(*DATA.batches[0])
    assert all(d.abs().max() > 0 for d in reweigher.meta_gradient(DATA.trusted).values())


def test_weight_collapse_is_reported(caplog):
    reweigher = held(teacher=Fixed([1.0, 1e-9, 1e-9, 1e-9]), every=1, through=1, collapse_below=0.3)
    reweigher.step(*DATA.batches[0])
    assert "weights have collapsed: the effective sample size is 25.0 % of the batch" in caplog.text
    reweigher.step(*DATA.batches[0])
    assert caplog.text.count("collapsed") == 1  # once until it is over
    caplog.clear()
    still = torch.optim.SGD((teacher := Fixed([1.0, 1e-9, 1e-9, 1e-9])).parameters(), lr=0.0)
    how = {"teacher_optimizer": still, "lookahead": True, "collapse_below": 0.3}
    ahead = held(teacher=teacher, every=1, **how)
    assert ahead.step(*DATA.batches[0]).taught
    assert "collapsed" in caplog.text
    caplog.clear()
    held(teacher=Fixed([1.0] * 4), every=1, through=1).step(*DATA.batches[0])
    assert "collapsed" not in caplog.text
