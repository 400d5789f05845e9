"""What people's loops really have: other batches, buffers that are assigned, clipping, ends of epochs."""

import gc
import random
import weakref
from collections import UserDict, namedtuple
from copy import deepcopy

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from tests.metagrad.brute_force import relative_error
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

import reweigh
from reweigh.config.methods import DeepConfig
from reweigh.errors import CheckpointError, DivergedError, UnsupportedError, UsageError

X, Y = torch.randn(12, 4, generator=torch.Generator().manual_seed(0)), torch.arange(12) % 3


def net(last: int = 3) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, last))


def awake(student: nn.Module, kind: str = "interaction") -> reweigh.Teacher:
    torch.manual_seed(1)
    if kind == "linear":
        teacher = reweigh.LinearTeacher([reweigh.InternalState(student, "2")])
    else:
        teacher = reweigh.InteractionTeacher(student, layer="2", num_classes=3)
    for p in teacher.parameters():
        nn.init.normal_(p)
    return teacher


def held(student: nn.Module | None = None, **options) -> reweigh.Reweigher:
    student = student or net()
    optimizer = options.pop("optimizer", None) or torch.optim.SGD(student.parameters(), 0.1)
    teacher = options.pop("teacher", None) or awake(student)
    trusted = options.pop("trusted", (X, Y))
    return reweigh.Reweigher(student, optimizer, teacher, trusted=trusted, **options)


# Which part of a batch the labels are.


def third(student: nn.Module, batch) -> Tensor:
    return F.cross_entropy(student(batch[0]), batch[2], reduction="none")


def test_the_second_of_three_parts_is_not_taken_for_the_label() -> None:
    batch = (X, torch.zeros_like(Y), Y)
    with pytest.raises(UsageError, match=r"Reweigher\(labels=f\)"):
        held(per_sample_loss=third, trusted=batch).step(*batch)
    told = held(per_sample_loss=third, trusted=batch, labels=lambda b: b[2])
    assert torch.equal(told.step(*batch).weights, held().step(X, Y).weights)
    one = reweigh.PosteriorTeacher(layer="2", num_classes=3)
    with pytest.raises(UsageError, match="labels=f"):
        held(teacher=one, per_sample_loss=third, trusted=batch).step(*batch)


def test_the_posterior_teachers_student_learns_from_the_labels_that_were_named() -> None:
    batch = (X, torch.zeros_like(Y), Y)
    options = {"per_sample_loss": third, "trusted": batch, "labels": lambda b: b[2]}
    teachers = [reweigh.PosteriorTeacher(layer="2", num_classes=3) for _ in range(2)]
    found = held(teacher=teachers[0], **options).step(*batch)
    torch.testing.assert_close(found.losses, held(teacher=teachers[1]).step(X, Y).losses)


def test_a_named_tuple_says_itself_which_part_the_labels_are() -> None:
    Named = namedtuple("Named", "x mask labels")
    batch = Named(X, torch.zeros_like(Y), Y)
    found = held(per_sample_loss=third, trusted=batch).step(batch)
    assert torch.equal(found.weights, held().step(X, Y).weights)


def test_labels_that_are_no_classes_are_refused_with_a_way_out() -> None:
    for wrong, says in ((Y.float(), "LossMarginTeacher"), (Y - 1, "label -1 is not one of 0 … 2")):
        with pytest.raises(UsageError, match=says):
            held(per_sample_loss=lambda s, b: s(b[0]).sum(1)).step(X, wrong)


def test_recurrent_students_with_time_first() -> None:
    class Last(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.last = nn.LSTM(4, 5), nn.Linear(5, 3)

        def forward(self, x: Tensor) -> Tensor:
            return self.last(self.inner(x)[0][-1])

    torch.manual_seed(0)
    student, x = Last(), torch.randn(7, 12, 4)  # (t, n, d)
    teacher = reweigh.InteractionTeacher(student, layer="last", num_classes=3)
    loop = held(student, teacher=teacher, trusted=(x, Y), every=1)
    assert loop.step(x, Y).weights.shape == (12,)


def test_students_that_answer_with_a_dict() -> None:
    class Told(nn.Sequential):
        def forward(self, x: Tensor) -> dict[str, Tensor]:
            return {"logits": super().forward(x)}

    student = Told(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    with pytest.raises(UsageError, match=r"answers with a dict.*per_sample_loss=f"):
        held(student).step(X, Y)
    one = reweigh.PosteriorTeacher(layer="2", num_classes=3)
    with pytest.raises(UsageError, match=r"answers with a dict.*logits=f"):
        held(student, teacher=one).step(X, Y)


def test_a_layer_that_runs_twice() -> None:
    class Twice(nn.Sequential):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x) + super().forward(-x)

    with pytest.raises(UsageError, match="'2' runs more than once"):
        held(Twice(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))).step(X, Y)


# The student's state and randomness.


class Mean(nn.Module):
    """Assigns its buffer, where batch normalisation writes into it."""

    def __init__(self) -> None:
        super().__init__()
        self.last = nn.Linear(4, 3)
        self.register_buffer("m", torch.zeros(4))

    def forward(self, x: Tensor) -> Tensor:
        self.m = 0.9 * self.m + 0.1 * x.mean(0)
        return self.last(x - self.m)


def test_a_buffer_that_is_assigned_keeps_its_updates() -> None:
    def after(trajectory: str | None) -> Tensor:
        torch.manual_seed(0)
        student = Mean()
        optimizer = torch.optim.SGD(student.parameters(), 0.1)
        teacher = reweigh.InteractionTeacher(student, layer="last", num_classes=3)
        options = {} if trajectory is None else {"trajectory": trajectory, "every": 2}
        loop = reweigh.Reweigher(
            student, optimizer, teacher if trajectory else None, trusted=(X, Y), **options
        )
        for _ in range(4):
            loop.step(X, Y)
        return student.m

    plain = after(None)
    assert plain.norm() > 0
    for trajectory in ("kept", "snapshots"):
        torch.testing.assert_close(after(trajectory), plain)


@pytest.mark.parametrize("draw", [random.random, np.random.rand])
def test_random_numbers_that_could_not_be_drawn_again(draw) -> None:
    class Drop(nn.Sequential):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x) * (1 + 1e-9 * draw())

    with pytest.raises(UnsupportedError, match="draws random numbers from Python or numpy"):
        held(Drop(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))).step(X, Y)


def test_a_student_that_counts_its_calls() -> None:
    class Counting(nn.Sequential):
        calls = 0

        def forward(self, x: Tensor) -> Tensor:
            self.calls += 1
            return super().forward(x) * self.calls

    with pytest.raises(UnsupportedError, match="differently when it is asked twice"):
        held(Counting(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))).step(X, Y)


# Loops that go backward by themselves.


def test_a_loss_that_is_divided_is_found_though_all_weights_are_alike() -> None:
    flat = reweigh.InteractionTeacher(net(), layer="2", num_classes=3)
    loop = held(teacher=flat, every=1)
    (loop.loss(X, Y) / 4).backward()
    loop.optimizer.step()
    with pytest.raises(UsageError, match=r"differs by 300%.*unchanged"):
        loop.after_step()


def test_a_loop_that_begins_to_clip_is_found_though_steps_were_skipped() -> None:
    loop = held(every=5, through=2)

    def step(number: int) -> None:
        loop.optimizer.zero_grad()
        loop.loss(X, Y).backward()
        if number > 20:
            for p in loop.student.module.parameters():
                p.grad.mul_(0.01)
        if number > 2:  # a scaler skips some when it starts
            loop.optimizer.step()
        loop.after_step()

    def steps(first: int, last: int) -> None:
        for number in range(first, last):
            step(number)

    steps(0, 21)
    with pytest.raises(UsageError, match="differs by"):
        steps(21, 180)


def test_a_buffer_may_change_its_shape() -> None:
    class Growing(Mean):
        def forward(self, x: Tensor) -> Tensor:
            self.m = torch.zeros(len(x), 4) + self.m.mean(0)
            return self.last(x - self.m)

    student = Growing()
    teacher = reweigh.InteractionTeacher(student, layer="last", num_classes=3)
    loop = held(student, teacher=teacher, every=1, trajectory="kept")
    for n in (6, 6, 9):
        loop.step(X[:n], Y[:n])
        assert student.m.shape == (n, 4)


def test_clip_norm_clips_also_where_the_loop_goes_backward() -> None:
    def moved(accumulate: int, own: bool) -> Tensor:
        loop = held(clip_norm=0.01, accumulate=accumulate, every=1)
        before = torch.cat([p.detach().flatten() for p in loop.student.module.parameters()])
        for _ in range(accumulate):
            if own:
                loop.step(X, Y)
            else:
                loop.loss(X, Y).backward()
        if not own:
            loop.optimizer.step()
            loop.after_step()
        after = torch.cat([p.detach().flatten() for p in loop.student.module.parameters()])
        return after - before

    for accumulate in (1, 2):
        assert float(moved(accumulate, False).norm()) == pytest.approx(0.1 * 0.01, rel=1e-3)
        torch.testing.assert_close(moved(accumulate, False), moved(accumulate, True))


def test_an_accumulated_step_may_end_early() -> None:
    def run(passes: int, accumulate: int, how: str) -> list[Tensor]:
        loop = held(accumulate=accumulate, every=1)
        for part in torch.arange(12).chunk(2)[:passes]:
            loop.loss(X[part], Y[part]).backward() if how == "loss" else loop.step(X[part], Y[part])
        if how == "loss":
            loop.optimizer.step()
            loop.after_step()
        elif how == "flush":
            assert loop.flush()
            assert not loop.flush()
        loop.state_dict()
        return [*loop.student.module.parameters(), *loop.teacher.parameters()]

    expected = run(2, 2, "step")
    for how in ("flush", "loss"):
        for one, other in zip(run(2, 4, how), expected, strict=True):
            torch.testing.assert_close(one, other)


def test_the_loss_of_an_accumulated_pass_is_its_own_mean() -> None:
    flat = reweigh.InteractionTeacher(net(), layer="2", num_classes=3)
    outcome = held(teacher=flat, accumulate=4).step(X, Y)
    torch.testing.assert_close(outcome.loss, outcome.losses.mean())


def test_a_loss_without_gradient_is_refused() -> None:
    loop = held()
    with torch.no_grad(), pytest.raises(UsageError, match="gradients are switched off"):
        loop.loss(X, Y)
    loop.step(X, Y)


def fused() -> tuple[reweigh.Reweigher, torch.amp.GradScaler]:
    student = net()
    optimizer = torch.optim.AdamW(student.parameters(), 0.01, fused=True)
    loop = held(student, optimizer=optimizer, every=1)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    scaler.scale(loop.loss(X, Y)).backward()
    return loop, scaler


def test_a_fused_optimizer_under_a_scaler_is_refused_unless_its_gradients_are_unscaled() -> None:
    loop, scaler = fused()
    with pytest.raises(UnsupportedError, match="unscale_"):
        scaler.step(loop.optimizer)
    loop, scaler = fused()
    scaler.unscale_(loop.optimizer)
    scaler.step(loop.optimizer)
    assert loop.after_step()


def test_a_step_that_a_fused_kernel_skips_does_not_count() -> None:
    loop, scaler = fused()
    next(loop.student.module.parameters()).grad[0, 0] = float("inf")
    scaler.unscale_(loop.optimizer)
    scaler.step(loop.optimizer)
    assert not loop.after_step()
    assert loop.clock.steps == 0


def test_autocast_around_the_pass_alone() -> None:
    student = net()
    loop = held(student, teacher=awake(student, "linear"), trusted=(X.bfloat16(), Y), every=1)
    with torch.autocast("cpu", torch.bfloat16):
        loss = loop.loss(X.bfloat16(), Y)
    loss.backward()
    loop.optimizer.step()
    assert loop.after_step()


def test_lookahead_sees_a_layer_that_was_frozen_since() -> None:
    def taught(late: bool) -> list[Tensor]:
        student = net()
        optimizer = torch.optim.SGD(student.parameters(), 0.5)
        if not late:
            student[0].requires_grad_(False)
        loop = held(student, optimizer=optimizer, every=1, lookahead=True)
        student[0].requires_grad_(False)
        loop.step(X, Y)
        return [p.detach() for p in loop.teacher.parameters()]

    late, early = ({str(i): t for i, t in enumerate(taught(flag))} for flag in (True, False))
    assert relative_error(late, early) < 1e-12


# What is given wrongly.


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"optimizer": "sgd"}, "optimizer must be a torch.optim optimizer, not a str"),
        ({"teacher": reweigh.LinearTeacher}, "teacher must be a reweigh.Teacher that was built"),
        ({"teacher_optimizer": torch.optim.SGD}, "teacher_optimizer= must be an optimizer of"),
        ({"clip_norm": "1"}, "clip_norm must be a positive number, not '1'"),
        ({"total_steps": -1}, "total_steps must be a whole number"),
        ({"every": True}, "every must be a whole number"),
        ({"through": None}, "through must be a whole number of at least 1, not None"),
        ({"accumulate": None}, "accumulate must be a whole number of at least 1, not None"),
        ({"trusted": TensorDataset(X, Y)}, "wrap it in a DataLoader"),
    ],
)
def test_wrong_arguments(options: dict, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        held(**options)


def test_parts_in_another_order_and_students_without_parameters() -> None:
    student = net()
    optimizer = torch.optim.SGD(student.parameters(), 0.1)
    with pytest.raises(UsageError, match=r"student must be an nn.Module, not a SGD"):
        reweigh.Reweigher(optimizer, student)
    with pytest.raises(UsageError, match="no parameters"):
        reweigh.Reweigher(nn.Tanh(), optimizer)
    with pytest.raises(
        UsageError, match="holds no parameter of the student, which would never move"
    ):
        reweigh.Reweigher(net(), optimizer)


def test_a_teachers_optimizer_that_holds_something_else() -> None:
    student = net()
    other = torch.optim.SGD(student.parameters(), 0.1)
    with pytest.raises(UsageError, match="must hold the teacher's parameters"):
        held(student, teacher_optimizer=other)


def test_ids_that_do_not_fit() -> None:
    for ids in (list(range(12)), torch.arange(3)):
        with pytest.raises(UsageError, match=r"one id per sample \(12\), got"):
            held().step(X, Y, ids=ids)


def test_a_teacher_is_told_how_far_training_is_with_trusted_batches_too() -> None:
    class Listening(reweigh.LossMarginTeacher):
        def __init__(self) -> None:
            super().__init__()
            self.shares: list[float] = []

        def notice_trusted(self, seen: reweigh.Seen) -> None:
            super().notice_trusted(seen)
            self.shares.append(seen.progress.share)

    loop = held(teacher=Listening(), every=2, total_steps=8)
    for _ in range(4):
        loop.step(X, Y)
    assert loop.teacher.shares == [0.25, 0.5]


@pytest.mark.parametrize(
    ("saved", "own", "differs"),
    [
        ({"trajectory": "reversal"}, {"trajectory": "snapshots"}, "trajectory='reversal'"),
        ({"deeper": True}, {}, "deeper=True"),
        ({"clip_norm": 0.5}, {}, "clip_norm=0.5"),
    ],
)
def test_steps_recorded_otherwise_are_refused_before_anything_is_loaded(
    saved: dict, own: dict, differs: str
) -> None:
    def made(options: dict) -> reweigh.Reweigher:
        student = net()
        momentum = torch.optim.SGD(student.parameters(), 0.1, momentum=0.9)
        return held(student, optimizer=momentum, every=None, **options)

    before, loop = made(saved), made(own)
    before.step(X, Y)
    first = {k: v.clone() for k, v in loop.teacher.state_dict().items()}
    with pytest.raises(CheckpointError, match=f"was made with {differs} \\(here"):
        loop.load_state_dict(before.state_dict())
    assert all(torch.equal(v, first[k]) for k, v in loop.teacher.state_dict().items())


def test_mappings_inside_a_batch_are_saved_as_dicts(tmp_path) -> None:
    def losses(student: nn.Module, batch) -> Tensor:
        return F.cross_entropy(student(batch[0]["x"]), batch[1], reduction="none")

    options = {"per_sample_loss": losses, "labels": lambda b: b[1], "every": None}
    batch = (UserDict(x=X), Y)
    before, after = held(trusted=batch, **options), held(trusted=batch, **options)
    before.step(batch)
    torch.save(before.state_dict(), tmp_path / "state.pt")
    after.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    assert after.engine is not None
    assert len(after.engine.steps) == 1


def test_states_that_are_none_of_ours() -> None:
    with pytest.raises(CheckpointError, match="no 'clock'"):
        held().load_state_dict({})
    student, loop = net(), held()
    plain = reweigh.Reweigher(student, torch.optim.SGD(student.parameters(), 0.1))
    with pytest.raises(CheckpointError, match="needs built, teacher"):
        loop.load_state_dict(
            {**plain.state_dict(), "clock": held().clock.state_dict() | {"steps": 77}}
        )
    assert loop.clock.steps == 0
    saved = held().state_dict()
    name, *_ = saved["teacher"]
    without = {other: t for other, t in saved["teacher"].items() if other != name}
    with pytest.raises(CheckpointError, match=f"they differ in {name}; "):
        loop.load_state_dict(saved | {"teacher": without})
    longer = torch.zeros(*saved["teacher"][name].shape, 2)
    with pytest.raises(CheckpointError, match=f"they differ in {name}; "):
        loop.load_state_dict(saved | {"teacher": saved["teacher"] | {name: longer}})
    saved["teacher"] = {"gone": torch.zeros(1)} | saved["teacher"]
    with pytest.raises(
        CheckpointError, match=r"not this \w+: they differ in gone; build it as it was"
    ):
        loop.load_state_dict(saved)


def test_trouble_with_the_trusted_batch_says_that_it_is_there() -> None:
    with pytest.raises(UsageError, match="in the trusted batch: the batch is empty"):
        held(trusted=(X[:0], Y[:0])).step(X, Y)
    with pytest.raises(DivergedError, match=r"trusted samples .* \[0, 1"):
        held(trusted=(X * float("nan"), Y)).step(X, Y)
    with pytest.raises(RuntimeError) as caught:
        held(trusted=(X.double(), Y)).step(X, Y)
    assert "trusted" in caught.value.__notes__[0]
    one_sample_left = DataLoader(TensorDataset(X[:1], Y[:1]))  # batch normalisation wants two
    student = nn.Sequential(nn.Linear(X.shape[1], 4), nn.BatchNorm1d(4), nn.Linear(4, 3))
    with pytest.raises(ValueError, match="more than 1 value") as caught:
        held(student=student, trusted=one_sample_left).step(X, Y)
    assert "trusted" in caught.value.__notes__[0]


def test_k_and_b_are_those_of_reweigh_train_unless_told() -> None:
    student, asked = net(), DeepConfig()
    optimizer = torch.optim.SGD(student.parameters(), 0.1)
    bare = reweigh.Reweigher(student, optimizer, awake(student), trusted=(X, Y))
    assert (bare.lessons.every, bare.engine.through) == (asked.every, asked.through)


def test_a_loop_that_goes_on_looks_back_the_way_that_was_chosen() -> None:
    """By the memory that was free then, and may not be now; what was asked for outright stays."""
    first = held()
    first.step(X, Y)
    first.engine.trajectory = "snapshots"  # as where memory was short
    again, asked = held(), held(trajectory="kept")
    for loop in (again, asked):
        loop.load_state_dict(first.state_dict())
    assert (again.engine.trajectory, asked.engine.trajectory) == ("snapshots", "kept")


def test_a_copy_says_that_it_cannot_teach() -> None:
    with pytest.raises(UnsupportedError, match="build a new Reweigher"):
        deepcopy(held()).step(X, Y)


def test_an_optimizer_does_not_keep_its_reweighers_alive() -> None:
    student = net()
    optimizer = torch.optim.SGD(student.parameters(), 0.1)
    loop = held(student, optimizer=optimizer)
    loop.step(X, Y)
    gone = weakref.ref(loop)
    del loop
    gc.collect()
    assert gone() is None
    assert not optimizer._optimizer_step_pre_hooks


def test_a_refused_batch_leaves_no_mark_on_running_statistics() -> None:
    student = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 3))
    teacher = reweigh.InteractionTeacher(student, layer="3", num_classes=3)
    loop = held(student, teacher=teacher, every=2)
    for _ in range(3):
        loop.step(X, Y)
    kept = {name: b.clone() for name, b in student.named_buffers()}
    bad = X.clone()
    bad[5, 1] = float("inf")
    for how in (loop.step, loop.loss, loop.step):
        with pytest.raises(
            DivergedError, match=r"inputs hold inf for samples \(positions.*\) \[5\]"
        ):
            how(bad, Y)
        for name, buffer in student.named_buffers():
            assert torch.equal(buffer, kept[name]), name
    loop.step(X, Y)
    assert not torch.equal(student[1].running_mean, kept["1.running_mean"])


@pytest.mark.parametrize("taught", [False, True])
def test_nor_of_steps_that_nobody_recorded(taught: bool) -> None:
    """torch writes running statistics without a trace in the buffer's version."""
    student = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    how = {"trusted": (X, Y), "every": 10, "trajectory": "snapshots"} if taught else {}
    teacher = reweigh.PosteriorTeacher(num_classes=3) if taught else None
    loop = reweigh.Reweigher(student, optimizer, teacher, **how)
    for _ in range(4):
        loop.step(X, Y)
    kept = {name: b.clone() for name, b in student.named_buffers()}
    with pytest.raises(DivergedError):
        loop.step(X * float("nan"), Y)
    for name, buffer in student.named_buffers():
        assert torch.equal(buffer, kept[name]), name


def test_nor_where_batch_norm_began_to_learn_with_that_batch() -> None:
    student = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 3))
    loop = held(
        student, teacher=reweigh.InteractionTeacher(student, layer="3", num_classes=3), every=2
    )
    student.eval()
    for _ in range(3):
        loop.step(X, Y)
    student.train()
    with pytest.raises(DivergedError):
        loop.step(X * float("nan"), Y)
    assert torch.equal(student[1].running_mean, torch.zeros(8))


def test_what_refused_passes_accumulated_is_not_in_the_next_step() -> None:
    loop, fresh = held(accumulate=2, every=None), held(accumulate=2, every=None)
    loop.loss(X, Y).backward()
    with pytest.raises(DivergedError):
        loop.loss(X * float("nan"), Y)
    for one in (loop, fresh):
        for _ in range(2):
            one.loss(X, Y).backward()
        one.optimizer.step()
        one.after_step()
    for p, other in zip(
        loop.student.module.parameters(), fresh.student.module.parameters(), strict=True
    ):
        assert torch.equal(p, other)


def test_the_teacher_learns_through_an_accumulated_step_that_ended_early() -> None:
    early, alone = held(accumulate=2, every=None, through=1), held(every=None, through=1)
    early.step(X, Y)
    early.flush()
    alone.step(X, Y)
    assert relative_error(early.meta_gradient((X, Y)), alone.meta_gradient((X, Y))) < 1e-5


def test_a_student_that_a_gradient_spoilt_is_not_blamed_on_the_next_batch() -> None:
    def rooted(student: nn.Module, batch) -> Tensor:
        losses = F.cross_entropy(student(batch[0]), batch[1], reduction="none")
        return losses + (losses - losses.detach()).sqrt()  # 0, but its slope is infinite

    loop = held(per_sample_loss=rooted, every=None)
    loop.step(X, Y)
    with pytest.raises(DivergedError, match=r"parameter '0\.weight' is not finite"):
        loop.step(X, Y)


def test_a_layer_replaced_between_recorded_steps_ends_the_way_back() -> None:
    found = []
    for trajectory in ("kept", "snapshots"):
        loop = held(every=None, through=2, trajectory=trajectory)
        loop.step(X, Y)
        loop.student.module[1] = nn.Softplus()
        loop.step(X, Y)
        found.append(loop.meta_gradient((X, Y)))
    assert relative_error(*found) < 1e-5


def test_maps_with_their_channels_last_are_pooled_by_position() -> None:
    class Last(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.mix, self.fc = nn.Linear(4, 8), nn.Linear(8, 3)

        def forward(self, x: Tensor) -> Tensor:
            return self.fc(self.mix(x[:, None, None].expand(-1, 2, 5, -1))).mean((1, 2))

    student = Last()
    teacher = reweigh.InteractionTeacher(student, layer="fc", num_classes=3)
    assert held(student, teacher=teacher).step(X, Y).weights.shape == (12,)


def test_a_refused_batch_leaves_no_mark_on_what_the_teacher_noticed() -> None:
    class Watching(reweigh.InteractionTeacher):
        def __init__(self, student: nn.Module) -> None:
            super().__init__(student, layer="2", num_classes=3)
            self.register_buffer("mean", torch.zeros(()))

        def notice(self, seen: reweigh.Seen) -> None:
            self.mean.lerp_(seen.losses.mean(), 0.1)

    student = net()
    teacher = Watching(student)
    loop = held(student, teacher=teacher, every=2)
    for _ in range(3):
        loop.step(X, Y)
    kept = teacher.mean.clone()
    with pytest.raises(DivergedError):
        loop.step(X * float("nan"), Y)
    assert torch.equal(teacher.mean, kept)
    loop.step(X, Y)
    assert not torch.equal(teacher.mean, kept)


@pytest.mark.parametrize("kind", [torch.uint8, torch.int32, torch.int16])
def test_whole_numbers_of_any_type_are_labels(kind: torch.dtype) -> None:
    for teacher in (None, reweigh.PosteriorTeacher(layer="2", num_classes=3)):
        plain, other = held(teacher=teacher), held(teacher=teacher)
        other.step(X, Y.to(kind))
        plain.step(X, Y)


def test_a_hook_that_changes_the_gradient_is_told() -> None:
    student = net()
    optimizer = torch.optim.SGD(student.parameters(), 0.1)
    loop = held(student, optimizer=optimizer, every=None)
    optimizer.register_step_pre_hook(lambda o, a, k: None)
    loop.step(X, Y)  # one that only looks on is nobody's business

    def halve(optimizer: torch.optim.Optimizer, args: object, kwargs: object) -> None:
        for p in student.parameters():
            p.grad.mul_(0.5)

    student = net()
    optimizer = torch.optim.SGD(student.parameters(), 0.1)
    loop = held(student, optimizer=optimizer, every=None)
    optimizer.register_step_pre_hook(halve)
    with pytest.raises(UsageError, match=r"differs by 100%.*no optimizer hook"):
        loop.step(X, Y)
    loop = held(student, optimizer=optimizer, every=None)
    optimizer.zero_grad()
    loop.loss(X, Y).backward()
    optimizer.step()
    with pytest.raises(UsageError, match=r"differs by 100%"):
        loop.after_step()


def test_after_step_before_the_optimizer_is_told() -> None:
    student = net()
    optimizer = torch.optim.SGD(student.parameters(), 0.1)
    loop = held(student, optimizer=optimizer)
    for _ in range(2):  # as where a scaler skips, and something else is stepped for
        loop.loss(X, Y).backward()
        assert not loop.after_step()
        optimizer.step()
    loop.loss(X, Y).backward()
    loop.after_step()
    with pytest.raises(UsageError, match=r"after_step\(\) was called before optimizer\.step"):
        optimizer.step()


def test_the_newest_reweigher_of_an_optimizer_is_the_one() -> None:
    student = net()
    optimizer = torch.optim.SGD(student.parameters(), 0.1)
    old, new = (held(student, optimizer=optimizer) for _ in range(2))
    old.step(X, Y)
    old.step(X, Y)  # a warm-up, say
    new.step(X, Y)
    with pytest.raises(UsageError, match="use the newer"):
        old.step(X, Y)


def test_a_little_decay_added_to_the_loss_is_told() -> None:
    student = net()
    optimizer = torch.optim.SGD(student.parameters(), 0.1)
    loop = held(student, optimizer=optimizer, every=None)
    decay = 0.005 * sum((p**2).sum() for p in student.parameters())
    (loop.loss(X, Y) + decay).backward()
    optimizer.step()
    with pytest.raises(UsageError, match="put further terms into per_sample_loss"):
        loop.after_step()


def test_a_refused_state_changes_nothing() -> None:
    loop, other = held(), held()
    with torch.no_grad():
        for p in other.teacher.parameters():
            p.add_(1)
    state = other.state_dict()
    del state["clock"]["passes"]
    before = {name: t.clone() for name, t in loop.teacher.state_dict().items()}
    with pytest.raises(CheckpointError, match="does not fit this version: passes"):
        loop.load_state_dict(state)
    for name, t in loop.teacher.state_dict().items():
        assert torch.equal(t, before[name])
