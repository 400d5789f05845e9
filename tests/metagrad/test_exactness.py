"""The engine against brute-force unrolled autograd: float64 to 1e-10, float32 to a stated bound."""

import pytest
import torch
from tests.metagrad.brute_force import RULES, relative_error
from tests.metagrad.exactness import allowed, by_engine, by_force, data_of
from tests.metagrad.students import CLASSES, awake, build, data_for, interaction

import reweigh
from reweigh.errors import UsageError

EXACT = 1e-10
SAME = 1e-9  # Adam makes 1e-17 of rounding in a gradient of 0 into 1e-11
KINDS = ["conv+bn", "attention+dropout", "lstm", "shared+frozen+unused"]


def agree(name, rule, through, trajectories, *, data=None, engine=(), **options):
    data = data or data_of(name, through)
    expected, unrolled = by_force(name, rule, data, through=through, **options)
    assert any(e.abs().max() > 1e-12 for e in expected.values())
    for trajectory in trajectories:
        found, student, _ = by_engine(
            name, rule, data, through=through, trajectory=trajectory, **options, **dict(engine)
        )
        assert relative_error(found, expected) <= EXACT, trajectory
        for n, p in student.named_parameters():
            if n in unrolled.theta:
                torch.testing.assert_close(
                    p.detach(), unrolled.visited[-1][n], rtol=SAME, atol=SAME
                )


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", KINDS)
def test_every_student_rule_window_and_trajectory(name, rule):
    for through in (1, 2, 5):
        agree(name, rule, through, allowed(rule))


@pytest.mark.parametrize("rule", ["momentum", "adamw"])
def test_several_parameter_groups(rule):
    for through in (1, 2, 5):
        agree("conv+bn", rule, through, allowed(rule), groups=True)


def test_a_window_that_starts_at_the_very_first_step():
    for rule in ("dampening+decay", "nesterov+decay", "adam+decay"):
        agree("smooth", rule, 5, allowed(rule), data=data_for("smooth", 5))


@pytest.mark.parametrize("rule", ["sgd", "momentum", "adam+decay"])
@pytest.mark.parametrize("clip_norm", [0.05, 100.0], ids=["bites", "does not bite"])
def test_clipping(rule, clip_norm):
    for through in (1, 2, 5):
        agree("conv+bn", rule, through, allowed(rule), clip_norm=clip_norm)


def test_clipping_that_bites_changes_the_answer():
    data = data_of("conv+bn", 2)
    clipped, _ = by_force("conv+bn", "sgd", data, through=2, clip_norm=0.05)
    free, _ = by_force("conv+bn", "sgd", data, through=2)
    assert relative_error(clipped, free) > 0.1


@pytest.mark.parametrize("rule", ["momentum", "adamw"])
@pytest.mark.parametrize("clip_norm", [None, 0.05])
def test_accumulation_normalises_over_the_whole_batch(rule, clip_norm):
    for through in (1, 2):
        data = data_for("conv+bn", 3 * (through + 1))
        agree("conv+bn", rule, through, allowed(rule), data=data, accumulate=3, clip_norm=clip_norm)


@pytest.mark.parametrize("rule", ["momentum", "adam"])
@pytest.mark.parametrize("name", ["conv+bn", "attention+dropout"])
def test_deeper_interaction(name, rule):
    for through in (1, 2, 5):
        agree(name, rule, through, allowed(rule), deeper=True)


def test_deeper_interaction_is_another_gradient():
    data = data_of("conv+bn", 2)
    deeper, _ = by_force("conv+bn", "momentum", data, through=2, deeper=True)
    plain, _ = by_force("conv+bn", "momentum", data, through=2)
    assert relative_error(deeper, plain) > 1e-3


def features(student):
    return (
        reweigh.InternalState(student, "fc"),
        reweigh.InternalState(student, "narrow", side="output"),
        reweigh.LabelFeature(CLASSES),
        reweigh.SurfaceFeatures("fc", CLASSES),
    )


TEACHERS = {
    "linear": lambda s: reweigh.LinearTeacher(features(s)),
    "mlp-1": lambda s: reweigh.MLPTeacher(features(s), hidden_layers=1),
    "mlp-2": lambda s: reweigh.MLPTeacher(features(s)[1:], hidden_layers=2),
    "interaction+extra": lambda s: reweigh.InteractionTeacher(
        s, layer="fc", num_classes=CLASSES, extra=features(s)[1:]
    ),
    "low rank": lambda s: reweigh.InteractionTeacher(s, layer="fc", num_classes=CLASSES, rank=2),
    "loss curve": lambda s: reweigh.LossCurveTeacher(7),
    "loss curve, sum": lambda s: reweigh.LossCurveTeacher(7, normalise="sum"),
}


@pytest.mark.parametrize("deeper", [False, True], ids=["", "deeper"])
@pytest.mark.parametrize("teacher", TEACHERS)
def test_every_teacher_and_feature(teacher, deeper):
    make = lambda s: awake(TEACHERS[teacher](s), s)  # noqa: E731
    agree(
        "conv+bn", "momentum", 2, allowed("momentum"),
        make_teacher=make, total_steps=40, deeper=deeper,
    )  # fmt: skip


def test_accumulation_with_weights_over_the_count_and_running_means():
    make = lambda s: awake(TEACHERS["loss curve"](s), s)  # noqa: E731
    surface = lambda s: awake(TEACHERS["linear"](s), s)  # noqa: E731
    data = data_for("conv+bn", 9)
    for teacher in (make, surface):
        agree(
            "conv+bn", "momentum", 2, allowed("momentum"),
            data=data, accumulate=3, make_teacher=teacher, total_steps=40,
        )  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_float32(name):
    """float32 against the unrolled float32 autograd: 1e-5 up to B = 2, 1e-3 at B = 5 on these tiny nets."""
    for through, bound in ((1, 1e-5), (2, 1e-5), (5, 1e-3)):
        data32 = data_of(name, through, dtype=torch.float32)
        single = torch.float32
        expected, _ = by_force(name, "momentum", data32, through=through, dtype=single)
        for trajectory in ("kept", "snapshots"):
            options = {"through": through, "trajectory": trajectory, "dtype": single}
            found, _, _ = by_engine(name, "momentum", data32, **options)
            assert relative_error(found, expected) <= bound, (through, trajectory)


def test_deeper_weights_under_autocast_are_those_that_are_told():
    """The teacher keeps its own precision, in what trains as in what is reported."""
    single = torch.float32
    student = build("smooth", single)
    optimizer = torch.optim.SGD(student.parameters(), 0.1)
    batch = data_of("smooth", 1, dtype=single).batches[0]
    teacher = awake(reweigh.LossCurveTeacher(7), student)
    held = reweigh.Reweigher(student, optimizer, teacher, trusted=batch, every=None, deeper=True)
    with torch.autocast("cpu", torch.bfloat16):
        told = held.step(*batch)
    torch.testing.assert_close(told.loss, (told.weights * told.losses).sum(), rtol=1e-6, atol=0)


def test_bf16_autocast_is_gone_back_over_under_autocast():
    """2 % against unrolled autograd under the same autocast, which float32 misses by 8 %."""
    single = torch.float32
    data = data_of("conv+bn", 2, dtype=single)
    plain, _ = by_force("conv+bn", "momentum", data, through=2, dtype=single)
    options = {"through": 2, "dtype": single, "autocast": torch.bfloat16}
    expected, _ = by_force("conv+bn", "momentum", data, **options)
    for trajectory in ("kept", "snapshots", "reversal"):
        found, _, _ = by_engine("conv+bn", "momentum", data, trajectory=trajectory, **options)
        assert relative_error(found, expected) < 0.02, trajectory
    assert relative_error(plain, expected) > 0.05


@pytest.mark.parametrize("trajectory", ["kept", "snapshots", "reversal"])
def test_steps_before_a_change_that_no_optimizer_made_are_left_out(trajectory):
    """A clamp between two steps is no step: only the one after it can be gone back over."""
    data = data_of("smooth", 3)
    *before, last = data.batches
    found = {}
    for through in (1, 3):
        student = build("smooth")
        optimizer = RULES["momentum"](student.parameters())
        held = reweigh.Reweigher(
            student, optimizer, interaction(student), trusted=data.trusted, every=None,
            through=through, trajectory=trajectory,
        )  # fmt: skip
        for batch in before:
            held.step(*batch)
            with torch.no_grad():
                for p in student.parameters():
                    p.data.clamp_(-0.2, 0.2)  # unseen by autograd's version counters
        held.step(*last)
        found[through] = held.meta_gradient(data.trusted)
    assert relative_error(found[3], found[1]) <= EXACT


def test_a_change_after_the_last_step_is_refused():
    data = data_of("smooth", 1)
    student = build("smooth")
    optimizer = RULES["momentum"](student.parameters())
    held = reweigh.Reweigher(
        student, optimizer, interaction(student), trusted=data.trusted, every=None
    )
    held.step(*data.batches[0])
    swapped = {n: p.detach().clone() for n, p in student.named_parameters()}
    with torch.no_grad():
        for p in student.parameters():
            p.mul_(0.5)
        for n, p in student.named_parameters():
            p.copy_(swapped[n])  # an average student came and went
    held.meta_gradient(data.trusted)
    with torch.no_grad():
        next(iter(student.parameters())).mul_(0.99)
    with pytest.raises(UsageError, match="were changed after the last optimizer step"):
        held.meta_gradient(data.trusted)
