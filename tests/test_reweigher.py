"""The object a loop holds: its own step, a loop outside, accumulation, the teacher's turns, resuming."""

import io
from contextlib import nullcontext
from dataclasses import dataclass

import pytest
import torch
import torch.nn.functional as F
from tests.metagrad.brute_force import RULES, Unrolled, relative_error
from tests.metagrad.exactness import by_force
from tests.metagrad.students import build, data_for, interaction
from torch import Tensor, nn

import reweigh
from reweigh.errors import DivergedError, UsageError

SINGLE = torch.float32


class Loop:
    """A training loop with a scheduler, taking its steps by one of three ways."""

    def __init__(self, how, name="conv+bn", rule="momentum", dtype=SINGLE, **options):
        self.how = how
        self.student = build(name, dtype)
        self.teacher = interaction(self.student)
        self.optimizer = RULES[rule](self.student.parameters())
        self.schedule = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.7)
        self.data = data_for(name, 24, dtype=dtype)
        trusted = {"trusted": lambda update: self.data.batches[-1 - update]}
        self.held = reweigh.Reweigher(
            self.student, self.optimizer, self.teacher, **({"every": 4} | trusted | options)
        )
        torch.manual_seed(1)

    def run(self, start, end):
        for batch in self.data.batches[start:end]:
            getattr(self, self.how)(batch)
        return self

    def step(self, batch):
        outcome = self.held.step(*batch)
        if not self.held._under_way.weighed:
            self.schedule.step()
        return outcome

    def loss(self, batch):
        if not self.held._under_way.weighed:
            self.optimizer.zero_grad()
        self.held.loss(*batch).backward()
        self.move()

    def weights(self, batch):
        if not self.held._under_way.weighed:
            self.optimizer.zero_grad()
        w = self.held.weights(*batch)
        (w * F.cross_entropy(self.student(batch[0]), batch[1], reduction="none")).sum().backward()
        self.move()

    def move(self):
        if self.held._under_way.complete:
            if self.held.clip is not None:
                torch.nn.utils.clip_grad_norm_(self.student.parameters(), self.held.clip.max_norm)
            self.optimizer.step()
            self.held.after_step()
            self.schedule.step()

    def everything(self):
        return {
            **{f"student.{n}": v for n, v in self.student.state_dict().items()},
            **{f"teacher.{n}": v for n, v in self.teacher.state_dict().items()},
        }


def assert_close(one, other, bound):
    for name, value in one.items():
        torch.testing.assert_close(value, other[name], rtol=bound, atol=bound, msg=name)


@pytest.mark.parametrize("how", ["loss", "weights"])
@pytest.mark.parametrize("rule", ["momentum", "adamw"])
@pytest.mark.parametrize("name", ["conv+bn", "attention+dropout", "shared+frozen+unused"])
def test_a_loop_outside_gives_what_step_gives(name, rule, how):
    for trajectory in ("kept", "snapshots"):
        options = {"name": name, "rule": rule, "trajectory": trajectory, "dtype": torch.float64}
        own = Loop("step", **options).run(0, 9)
        outside = Loop(how, **options).run(0, 9)
        assert own.held.clock.updates == outside.held.clock.updates == 2
        assert_close(own.everything(), outside.everything(), 1e-12)


@pytest.mark.parametrize("how", ["loss", "weights"])
def test_a_loop_outside_with_reversal_and_clipping(how):
    for options in ({"trajectory": "reversal"}, {"clip_norm": 0.05}, {"accumulate": 3}):
        own = Loop("step", dtype=torch.float64, **options).run(0, 24)
        outside = Loop(how, dtype=torch.float64, **options).run(0, 24)
        assert own.held.clock.updates == 24 // (4 * own.held.accumulate)
        assert_close(own.everything(), outside.everything(), 1e-12)


@pytest.mark.parametrize("how", ["loss", "weights"])
@pytest.mark.parametrize("options", [{"rule": "adam"}, {"clip_norm": 0.05}])
def test_gradients_that_a_loop_left_at_zero(how, options):
    """`zero_grad(set_to_none=False)` gives unused layers a gradient of 0, which moves them by decay."""
    loop = Loop(how, "shared+frozen+unused", **options, every=2, dtype=torch.float64)
    own = Loop("step", "shared+frozen+unused", **options, every=2, dtype=torch.float64).run(0, 6)
    moving = [p for p in loop.student.parameters() if p.requires_grad]
    for p in moving:
        p.grad = torch.zeros_like(p)
    loop.optimizer.zero_grad = lambda: [p.grad.zero_() for p in moving]
    loop.run(0, 6)
    assert_close(own.everything(), loop.everything(), 1e-12)


@pytest.mark.parametrize("trajectory", ["kept", "snapshots"])
def test_a_layer_frozen_during_training_stays_where_it_is(trajectory):
    loop = Loop("step", "smooth", trajectory=trajectory, every=None, dtype=torch.float64).run(0, 2)
    loop.student.first.requires_grad_(False)
    before = loop.student.first.weight.clone()
    loop.run(2, 4)
    assert torch.equal(before, loop.student.first.weight)
    other = {"kept": "snapshots", "snapshots": "kept"}[trajectory]
    twin = Loop("step", "smooth", trajectory=other, every=None, dtype=torch.float64).run(0, 2)
    twin.student.first.requires_grad_(False)
    twin.run(2, 4)
    trusted = loop.data.trusted
    found = loop.held.meta_gradient(trusted)
    assert relative_error(found, twin.held.meta_gradient(trusted)) < 1e-10


def test_a_layer_unfrozen_during_training_joins_and_starts_a_new_window():
    student = build("smooth")
    student.first.requires_grad_(False)
    optimizer = torch.optim.SGD(student.parameters(), 0.1)
    data = data_for("smooth", 4)
    held = reweigh.Reweigher(
        student, optimizer, interaction(student), trusted=data.trusted, every=None, through=4
    )
    for t, batch in enumerate(data.batches):
        if t == 2:
            student.first.requires_grad_(True)
        held.step(*batch)
    assert len(held.engine.steps) == 2
    twin = build("smooth")
    unrolled = Unrolled(twin, torch.optim.SGD(twin.fc.parameters(), 0.1), interaction(twin), 2)
    unrolled.run(data.batches[:2], data.trusted)
    with torch.no_grad():
        for name, value in unrolled.theta.items():
            twin.get_parameter(name).copy_(value)
    unrolled = Unrolled(twin, torch.optim.SGD(twin.parameters(), 0.1), interaction(twin), 2)
    expected = unrolled.run(data.batches[2:], data.trusted)
    assert relative_error(held.meta_gradient(data.trusted), expected) < 1e-10


def test_the_rate_of_the_very_step_is_used_under_a_scheduler():
    loop = Loop("step", "smooth", dtype=torch.float64, every=None, through=2).run(0, 4)
    data = data_for("smooth", 24)
    data.batches[:] = data.batches[:4]
    expected, _ = by_force("smooth", "momentum", data, through=2, schedule=lambda t: 0.7**t)
    assert relative_error(loop.held.meta_gradient(data.trusted), expected) < 1e-10


@pytest.mark.parametrize("wrong", ["mean", "unweighted", "late"])
def test_a_loop_that_uses_the_weights_wrongly_is_told(wrong):
    loop = Loop("weights", "smooth", every=None)
    x, y = loop.data.batches[0]
    loop.optimizer.zero_grad()
    w = loop.held.weights(x, y)
    losses = F.cross_entropy(loop.student(x), y, reduction="none")
    value = {
        "mean": (w * losses).mean(),
        "unweighted": losses.sum(),
        "late": 2 * (w * losses).sum(),
    }
    value[wrong].backward()
    loop.optimizer.step()
    with pytest.raises(UsageError, match=r"differs by \d+%.*\(weights \* losses\)\.sum\(\)"):
        loop.held.after_step()


@pytest.mark.parametrize("how", ["loss", "weights"])
def test_a_loop_that_forgets_after_step_is_told(how):
    loop = Loop(how, "smooth")
    batch = loop.data.batches[0]
    getattr(loop.held, how)(*batch)
    with pytest.raises(UsageError, match="call after_step"):
        getattr(loop.held, how)(*batch)


def test_a_step_that_a_scaler_skipped_is_not_gone_back_over():
    loop = Loop("weights", "smooth", every=None).run(0, 1)
    loop.held.weights(*loop.data.batches[1])
    loop.held.after_step()
    assert len(loop.held.engine.steps) == 1


def test_the_teachers_turns():
    loop = Loop("step", "smooth", every=3, through=2)
    taught = [loop.step(batch).taught for batch in loop.data.batches[:7]]
    assert taught == [False, False, True, False, False, True, False]
    assert loop.held.clock.updates == 2


def test_only_the_last_steps_before_a_turn_are_recorded():
    loop = Loop("step", "smooth", every=4, through=2)
    held = []
    for batch in loop.data.batches[:4]:
        loop.step(batch)
        held.append(len(loop.held.engine.steps))
    assert held == [0, 0, 1, 0]


def test_teach_moves_the_teacher_against_the_meta_gradient():
    loop = Loop("step", "smooth", every=None)
    loop.held.lessons.optimizer = torch.optim.SGD(loop.teacher.parameters(), 1.0)
    loop.run(0, 3)
    before = {n: p.detach().clone() for n, p in loop.teacher.named_parameters()}
    gradient = loop.held.meta_gradient(loop.data.trusted)
    loop.held.teach(loop.data.trusted)
    for n, p in loop.teacher.named_parameters():
        assert torch.equal(p, before[n] - gradient[n])
        assert p.grad is None


def test_learning_lowers_the_weight_of_wrong_labels():
    torch.manual_seed(0)
    x = torch.randn(400, 4, dtype=torch.float64)
    y = x[:, :3].argmax(1)
    wrong = torch.rand(400) < 0.4
    noisy = torch.where(wrong, (y + 1) % 3, y)
    student = build("smooth")
    teacher = reweigh.InteractionTeacher(student, layer="first", num_classes=3).double()
    optimizer = torch.optim.SGD(student.parameters(), 0.2, momentum=0.9)
    clean = (x[:60], y[:60])
    held = reweigh.Reweigher(student, optimizer, teacher, trusted=clean, every=2, through=2)
    for _ in range(150):
        k = torch.randint(60, 400, (64,))
        held.step(x[k], noisy[k])
    w = held.weights(x[60:], noisy[60:])
    assert w[~wrong[60:]].mean() > 2 * w[wrong[60:]].mean()


def test_without_a_teacher_it_is_plain_training():
    student, plain = build("smooth", SINGLE), build("smooth", SINGLE)
    data = data_for("smooth", 4, dtype=SINGLE)
    optimizers = [RULES["momentum"](s.parameters()) for s in (student, plain)]
    held = reweigh.Reweigher(student, optimizers[0])
    for x, y in data.batches:
        outcome = held.step(x, y)
        optimizers[1].zero_grad()
        (F.cross_entropy(plain(x), y, reduction="none") / 4).sum().backward()
        optimizers[1].step()
        assert torch.equal(outcome.weights, torch.full((4,), 0.25))
    assert_close(dict(student.named_parameters()), dict(plain.named_parameters()), 1e-7)
    with pytest.raises(UsageError, match="no teacher that learns"):
        held.teach()


@dataclass
class Picture:
    image: Tensor
    labels: Tensor


def by_name(student, batch):
    return F.cross_entropy(student(batch["image"]), batch["labels"], reduction="none")


def by_field(student, batch):
    return F.cross_entropy(student(batch.image), batch.labels, reduction="none")


@pytest.mark.parametrize(
    ("loss", "make"),
    [(by_name, lambda x, y: {"image": x, "labels": y}), (by_field, Picture)],
    ids=["dict", "dataclass"],
)
def test_batches_of_any_container(loss, make):
    tuples = Loop("step", "smooth", every=2).run(0, 4)
    other = Loop("step", "smooth", every=2)
    data = other.data
    trusted = {"trusted": lambda update: make(*data.batches[-1 - update]), "every": 2}
    held = reweigh.Reweigher(
        other.student, other.optimizer, other.teacher, per_sample_loss=loss, **trusted
    )
    for batch in data.batches[:4]:
        held.step(make(*batch))
        other.schedule.step()
    assert_close(tuples.everything(), other.everything(), 0)


@pytest.mark.parametrize("name", ["conv+bn", "attention+dropout", "lstm"])
@pytest.mark.parametrize("trajectory", ["kept", "snapshots", "reversal"])
def test_a_run_stopped_inside_a_window_goes_on_to_the_same_bits(name, trajectory):
    whole = Loop("step", name, trajectory=trajectory, every=4, through=3).run(0, 10)
    first = Loop("step", name, trajectory=trajectory, every=4, through=3).run(0, 7)
    assert len(first.held.engine.steps) == 2
    parts = ("student", "optimizer", "schedule", "held")
    saved = {part: getattr(first, part).state_dict() for part in parts}
    file = io.BytesIO()
    torch.save(saved | {"random": torch.get_rng_state()}, file)
    file.seek(0)
    state = torch.load(file, weights_only=True)
    second = Loop("step", name, trajectory=trajectory, every=4, through=3)
    for part in parts:
        getattr(second, part).load_state_dict(state[part])
    trusted = first.data.trusted
    now, then = second.held.meta_gradient(trusted), first.held.meta_gradient(trusted)
    assert_close(now, then, 0)
    torch.set_rng_state(state["random"])
    second.run(7, 10)
    assert second.held.clock.updates == whole.held.clock.updates == 2
    assert_close(whole.everything(), second.everything(), 0)


def test_a_checkpoint_inside_an_accumulated_step_is_refused():
    loop = Loop("step", "smooth", accumulate=2).run(0, 1)
    with pytest.raises(UsageError, match="inside a step: finish it first"):
        loop.held.state_dict()


def test_a_caught_divergence_skips_the_batch_and_training_goes_on():
    for how in ("step", "loss", "weights"):
        loop, twin = Loop(how, "smooth", every=None), Loop(how, "smooth", every=None)
        x, y = loop.data.batches[0]
        loop.run(0, 2)
        with pytest.raises(DivergedError):
            getattr(loop, how)((x * float("nan"), y))
        loop.run(2, 4)
        twin.run(0, 4)
        assert loop.held.clock.steps == 4
        assert_close(loop.everything(), twin.everything(), 0)


def test_an_outcome_tells_of_its_batch():
    loop = Loop("step", "smooth")
    outcome = loop.step(loop.data.batches[0])
    assert outcome.losses.shape == outcome.weights.shape == (4,)
    torch.testing.assert_close(outcome.weights.sum(), torch.tensor(1.0))
    torch.testing.assert_close(outcome.loss, (outcome.weights * outcome.losses).sum())
    assert not outcome.loss.requires_grad
    assert 0.25 <= outcome.effective_share <= 1


def test_accumulation_is_one_large_batch_where_samples_do_not_meet():
    whole, parts = (
        Loop("step", "smooth", every=None),
        Loop("step", "smooth", every=None, accumulate=3),
    )
    x, y = (torch.cat(part) for part in zip(*whole.data.batches[:3], strict=True))
    whole.held.step(x, y)
    parts.run(0, 3)
    assert_close(whole.everything(), parts.everything(), 1e-6)
    trusted = whole.data.trusted
    found = parts.held.meta_gradient(trusted)
    assert relative_error(found, whole.held.meta_gradient(trusted)) < 1e-5


def test_best_trusted_accuracy_only_rises():
    held = Loop("step", "smooth").held
    for accuracy in (0.3, 0.6, 0.5):
        held.note_trusted_accuracy(accuracy)
    assert held.clock.best_accuracy == 0.6


def test_another_measure_on_trusted_samples_is_what_the_teacher_learns_from():
    def thrice(student, batch):
        return 3 * F.cross_entropy(student(batch[0]), batch[1], reduction="none")

    usual = Loop("step", "smooth", every=None).run(0, 3)
    other = Loop("step", "smooth", every=None, trusted_loss=thrice).run(0, 3)
    trusted = usual.data.trusted
    expected = {k: 3 * g for k, g in usual.held.meta_gradient(trusted).items()}
    assert relative_error(other.held.meta_gradient(trusted), expected) < 1e-6


def test_an_optimizer_that_calls_a_closure_is_recorded_like_any_other():
    plain, closed = Loop("loss", every=None).run(0, 3), Loop("loss", every=None)
    for batch in closed.data.batches[:3]:

        def closure(batch=batch):
            closed.optimizer.zero_grad()
            loss = closed.held.loss(*batch)
            loss.backward()
            return loss

        closed.optimizer.step(closure)
        closed.held.after_step()
        closed.schedule.step()
    trusted = plain.data.trusted
    found = closed.held.meta_gradient(trusted)
    assert relative_error(found, plain.held.meta_gradient(trusted)) < 1e-6


def test_a_step_that_a_scaler_skips_does_not_count():
    loop = Loop("loss", every=1, through=1)
    loop.optimizer.zero_grad()
    loop.held.loss(*loop.data.batches[0]).backward()
    assert not loop.held.after_step()
    assert loop.held.clock.steps == 0
    loop.run(1, 3)
    assert loop.held.clock.updates == 2


def test_one_autocast_around_the_loop_learns_as_one_around_each_step() -> None:
    draw = torch.Generator().manual_seed(0)
    x = torch.randn(32, 6, generator=draw)
    y = (x[:, 0] > 0).long()

    def last(around: bool) -> float:
        torch.manual_seed(0)
        student = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
        held = reweigh.Reweigher(student, torch.optim.SGD(student.parameters(), 0.5))
        with torch.autocast("cpu", torch.bfloat16) if around else nullcontext():
            for _ in range(20):
                with torch.autocast("cpu", torch.bfloat16):
                    loss = float(held.step(x, y).loss)
        return loss

    assert last(around=True) == last(around=False)


def test_features_that_could_not_be_told_apart_are_refused() -> None:
    student = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
    two = [
        reweigh.InternalState(student, "2", reduce=lambda s: s),
        reweigh.InternalState(student, "2", reduce=lambda s: -s),
    ]
    with pytest.raises(UsageError, match="could not be told apart"):
        reweigh.Reweigher(
            student,
            torch.optim.SGD(student.parameters(), 0.1),
            reweigh.LinearTeacher(two),
            trusted=(torch.zeros(2, 4), torch.zeros(2, dtype=torch.int64)),
        )


def test_lookahead_without_anything_to_learn_is_refused() -> None:
    class Even(reweigh.Teacher):
        def forward(self, seen):
            return torch.ones_like(seen.losses)

    student = nn.Linear(4, 2)
    with pytest.raises(UsageError, match="lookahead=True needs a teacher with parameters"):
        reweigh.Reweigher(
            student,
            torch.optim.SGD(student.parameters(), 0.1),
            Even(),
            trusted=(torch.zeros(2, 4), torch.zeros(2, dtype=torch.int64)),
            lookahead=True,
        )
