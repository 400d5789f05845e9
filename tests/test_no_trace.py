"""What looks back leaves no trace: every bit of the student's world is as it was."""

import copy

import pytest
import torch
from tests.metagrad.brute_force import RULES, relative_error
from tests.metagrad.exactness import by_engine, by_force, data_of
from tests.metagrad.students import STUDENTS, build, data_for, interaction
from torch import nn

import reweigh

TRAJECTORIES = ["kept", "snapshots", "reversal"]


def flat(value, path=""):
    """Every tensor and number of a nested state, by path."""
    if isinstance(value, dict):
        return {k: v for n, part in value.items() for k, v in flat(part, f"{path}/{n}").items()}
    if isinstance(value, list | tuple):
        return flat(dict(enumerate(value)), path)
    return {path: value.detach().clone() if isinstance(value, torch.Tensor) else value}


def world(student, optimizer, teacher):
    """Everything that a replay could have touched."""
    modules = dict(student.named_modules())
    hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_parameters", "_buffers")
    return flat(
        {
            "student": student.state_dict(),
            "teacher": teacher.state_dict(),
            "optimizer": optimizer.state_dict(),
            "optimizer hooks": (
                len(optimizer._optimizer_step_pre_hooks),
                len(optimizer._optimizer_step_post_hooks),
            ),
            "gradients": {n: p.grad for n, p in student.named_parameters()},
            "teacher's gradients": {n: p.grad for n, p in teacher.named_parameters()},
            "versions": {n: p._version for n, p in student.named_parameters()},
            "identities": {n: id(p) for n, p in student.named_parameters()},
            "modes": {n: m.training for n, m in modules.items()},
            "tracking": {n: getattr(m, "track_running_stats", None) for n, m in modules.items()},
            "hooks": {n: [len(getattr(m, h)) for h in hooks] for n, m in modules.items()},
            "random": torch.get_rng_state(),
            "autocast": torch.is_autocast_enabled("cpu"),
            "grad mode": torch.is_grad_enabled(),
        }
    )


def assert_same(before, after):
    assert before.keys() == after.keys()
    for path, value in before.items():
        if isinstance(value, torch.Tensor):
            assert torch.equal(value, after[path]), path
        else:
            assert value == after[path], path


def trained(name, trajectory, rule="momentum", **options):
    student = build(name, torch.float32)
    teacher = interaction(student)
    optimizer = RULES[rule](student.parameters())
    data = data_for(name, 3, dtype=torch.float32)
    held = reweigh.Reweigher(
        student, optimizer, teacher,
        trusted=data.trusted, every=None, through=2, trajectory=trajectory, **options,
    )  # fmt: skip
    for batch in data.batches:
        held.step(*batch)
    return held, student, optimizer, teacher, data


@pytest.mark.parametrize("trajectory", TRAJECTORIES)
@pytest.mark.parametrize("name", STUDENTS)
def test_meta_gradient_leaves_no_trace(name, trajectory):
    held, student, optimizer, teacher, data = trained(name, trajectory)
    student.train()
    before = world(student, optimizer, teacher)
    first = held.meta_gradient(data.trusted)
    assert_same(before, world(student, optimizer, teacher))
    again = held.meta_gradient(data.trusted)
    assert all(torch.equal(first[n], again[n]) for n in first)


@pytest.mark.parametrize("options", [{"deeper": True}, {"clip_norm": 0.1}], ids=str)
@pytest.mark.parametrize("trajectory", ["kept", "snapshots"])
def test_no_trace_with_options(options, trajectory):
    held, student, optimizer, teacher, data = trained("conv+bn", trajectory, "adamw", **options)
    before = world(student, optimizer, teacher)
    held.meta_gradient(data.trusted)
    assert_same(before, world(student, optimizer, teacher))


def test_finite_differences_leave_no_trace():
    held, student, optimizer, teacher, data = trained("conv+bn", "finite")
    before = world(student, optimizer, teacher)
    held.meta_gradient(data.trusted)
    assert_same(before, world(student, optimizer, teacher))


@pytest.mark.parametrize("name", ["conv+bn", "attention+dropout", "lstm"])
def test_preflight_and_weights_leave_no_trace(name):
    student = build(name, torch.float32)
    teacher, optimizer = interaction(student), torch.optim.SGD(student.parameters(), 0.1)
    data = data_for(name, 2, dtype=torch.float32)
    held = reweigh.Reweigher(
        student, optimizer, teacher, trusted=data.trusted, every=None, trajectory="kept"
    )
    before = world(student, optimizer, teacher)
    held.weights(*data.batches[0])
    held.after_step()
    assert_same(before, world(student, optimizer, teacher))


def test_a_step_that_is_kept_moves_the_student_as_a_plain_loop_does():
    """BatchNorm's statistics, dropout's random numbers and θ: those of a loop without the package."""
    for trajectory in TRAJECTORIES:
        _, student, _, _, data = trained("smooth conv+bn", trajectory)
        plain = build("smooth conv+bn", torch.float32)
        teacher = interaction(plain)
        optimizer = RULES["momentum"](plain.parameters())
        for x, y in data.batches:
            states = {}
            hook = plain.fc.register_forward_hook(lambda m, i, o, s=states: s.update(I=i[0]))
            losses = nn.functional.cross_entropy(plain(x), y, reduction="none")
            hook.remove()
            logit = (states["I"].detach() * teacher.directions[y]).sum(1) + teacher.bias[y]
            w = logit.sigmoid().detach()
            optimizer.zero_grad()
            (w / w.sum() * losses).sum().backward()
            optimizer.step()
        for (n, ours), theirs in zip(
            student.state_dict().items(), plain.state_dict().values(), strict=True
        ):
            torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-7, msg=f"{trajectory} {n}")


@pytest.mark.parametrize("trajectory", TRAJECTORIES)
def test_a_student_set_to_eval_is_still_replayed_in_training_mode(trajectory):
    """The steps are gone back over as they were taken; the trusted loss is taken in eval mode."""
    data = data_of("conv+bn", 2)
    _, student, held = by_engine("conv+bn", "momentum", data, through=2, trajectory=trajectory)
    _, unrolled = by_force("conv+bn", "momentum", data, through=2)
    student.eval()
    unrolled.student.eval()
    unrolled.buffers = {n: b.clone() for n, b in student.named_buffers()}
    expected = unrolled.meta_gradient(data.trusted)
    assert relative_error(held.meta_gradient(data.trusted), expected) < 1e-10
    assert not any(m.training for m in student.modules())


def test_dropout_is_replayed_with_its_masks_whatever_was_drawn_since():
    data = data_of("attention+dropout", 2)
    _, student, held = by_engine(
        "attention+dropout", "sgd", data, through=2, trajectory="snapshots"
    )
    student.eval()  # so that only the replayed steps draw
    first = held.meta_gradient(data.trusted)
    torch.manual_seed(12345)
    torch.randn(17)
    again = held.meta_gradient(data.trusted)
    assert all(torch.equal(first[n], again[n]) for n in first)


def test_a_student_can_be_copied_after_a_replay():
    for name in STUDENTS:
        held, student, _, _, data = trained(name, "snapshots")
        held.meta_gradient(data.trusted)
        copied = copy.deepcopy(student).eval()
        x = data.trusted[0]
        assert torch.equal(copied(x), student.eval()(x))
