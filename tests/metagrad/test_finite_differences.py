"""The whole pipeline against differences: ω is nudged, the steps are taken again, M is measured."""

import pytest
import torch
import torch.nn.functional as F
from tests.metagrad.brute_force import RULES, relative_error
from tests.metagrad.exactness import by_engine, data_of
from tests.metagrad.students import CLASSES, awake, build, interaction
from torch import nn

import reweigh

NUDGE = 1e-5


def trusted_loss(name, rule, data, omega, through):
    """M after the steps, the last `through` of them under the teacher at ω."""
    student = build(name)
    teacher = interaction(student)
    optimizer = RULES[rule](student.parameters())
    held = reweigh.Reweigher(student, optimizer, teacher, trusted=data.trusted, every=None)
    torch.manual_seed(11)
    for t, batch in enumerate(data.batches):
        if t == len(data.batches) - through:
            teacher.load_state_dict(omega)
        held.step(*batch)
    x, y = data.trusted
    with torch.no_grad():
        return float(F.cross_entropy(student(x), y))


def differences(measure, omega):
    """Central differences of `measure` with respect to every number of ω."""
    slopes = {name: torch.zeros_like(value) for name, value in omega.items()}
    for name, value in omega.items():
        for k in range(value.numel()):
            ends = []
            for sign in (1, -1):
                nudged = {n: v.clone() for n, v in omega.items()}
                nudged[name].view(-1)[k] += sign * NUDGE
                ends.append(measure(nudged))
            slopes[name].view(-1)[k] = (ends[0] - ends[1]) / (2 * NUDGE)
    return slopes


@pytest.mark.parametrize("rule", ["dampening+decay", "adam+decay"])
@pytest.mark.parametrize("name", ["smooth", "smooth conv+bn"])
def test_steps_taken_again_under_a_nudged_teacher(name, rule):
    """θ along the nudged run moves the weights too, so only B = 1 is free of ∂w/∂θ."""
    data = data_of(name, 1)
    found, _, held = by_engine(name, rule, data, through=1)
    omega = {n: p.detach().clone() for n, p in held.teacher.named_parameters()}
    slopes = differences(lambda o: trusted_loss(name, rule, data, o, 1), omega)
    assert relative_error(found, slopes) < 1e-6


class ByLabel(reweigh.Teacher):
    """Weights that do not look at θ, so that longer windows can be nudged, too."""

    def __init__(self):
        super().__init__()
        self.each = nn.Parameter(torch.tensor([0.4, -0.3, 0.8], dtype=torch.float64))

    def forward(self, seen):
        return self.each[seen.labels].sigmoid()


@pytest.mark.parametrize("rule", ["nesterov+decay", "adamw"])
def test_windows_of_several_steps(rule):
    data = data_of("smooth", 3)

    def run(omega=None):
        student, teacher = build("smooth"), ByLabel()
        optimizer = RULES[rule](student.parameters())
        held = reweigh.Reweigher(
            student, optimizer, teacher, trusted=data.trusted, every=None, through=3
        )
        for t, batch in enumerate(data.batches):
            if omega is not None and t == len(data.batches) - 3:
                teacher.load_state_dict(omega)
            held.step(*batch)
        return student, held

    _, held = run()
    x, y = data.trusted
    omega = {n: p.detach().clone() for n, p in held.teacher.named_parameters()}
    slopes = differences(lambda o: float(F.cross_entropy(run(o)[0](x), y).detach()), omega)
    assert relative_error(held.meta_gradient(data.trusted), slopes) < 1e-6


class Lookup(nn.Module):
    """An embedding: rows that no batch uses have gradients of exactly 0."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(9, 4)
        self.fc = nn.Linear(4, CLASSES)

    def forward(self, x):
        return self.fc(self.words(x).mean(1).tanh())


@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.AdamW])
@pytest.mark.parametrize("trajectory", ["kept", "snapshots"])
def test_adam_where_gradients_were_always_zero(kind, trajectory):
    """v' = 0 there: the answer is finite, and that of differences."""
    draw = torch.Generator().manual_seed(5)
    words = [torch.randint(6, (4, 3), generator=draw) for _ in range(4)]
    labels = [torch.randint(CLASSES, (4,), generator=draw) for _ in range(4)]
    trusted = (torch.tensor([[6, 7, 8], [0, 1, 2]]), torch.tensor([0, 1]))

    def run(omega=None):
        torch.manual_seed(0)
        student, teacher = Lookup().double(), ByLabel()
        optimizer = kind(student.parameters(), 0.02)
        held = reweigh.Reweigher(
            student, optimizer, teacher,
            trusted=trusted, every=None, through=2, trajectory=trajectory,
        )  # fmt: skip
        for t in range(4):
            if omega is not None and t == 2:
                teacher.load_state_dict(omega)
            held.step(words[t], labels[t])
        return student, held

    student, held = run()
    found = held.meta_gradient(trusted)
    assert (student.words.weight[6:] != 0).all()
    assert torch.isfinite(found["each"]).all()
    omega = {n: p.detach().clone() for n, p in held.teacher.named_parameters()}
    x, y = trusted
    slopes = differences(lambda o: float(F.cross_entropy(run(o)[0](x), y).detach()), omega)
    assert relative_error(found, slopes) < 1e-6


@pytest.mark.parametrize("trajectory", ["kept", "snapshots"])
def test_adam_where_an_input_was_always_zero(trajectory):
    """Its weights meet every sample with a 0, so that a NaN of theirs would reach all of them."""
    data = data_of("smooth", 2)
    for x, _ in data.batches:
        x[:, 3] = 0

    def run(omega=None):
        student, teacher = build("smooth"), ByLabel()
        held = reweigh.Reweigher(
            student, torch.optim.Adam(student.parameters(), 0.02), teacher,
            trusted=data.trusted, every=None, through=2, trajectory=trajectory,
        )  # fmt: skip
        for t, batch in enumerate(data.batches):
            if omega is not None and t == len(data.batches) - 2:
                teacher.load_state_dict(omega)
            held.step(*batch)
        return student, held

    student, held = run()
    before = build("smooth").first.weight[:, 3]
    assert torch.equal(student.first.weight[:, 3], before)
    omega = {n: p.detach().clone() for n, p in held.teacher.named_parameters()}
    x, y = data.trusted
    slopes = differences(lambda o: float(F.cross_entropy(run(o)[0](x), y).detach()), omega)
    assert relative_error(held.meta_gradient(data.trusted), slopes) < 1e-6


@pytest.mark.parametrize("rule", ["momentum", "adamw"])
def test_the_labelled_fallback_comes_near(rule):
    """trajectory="finite" on a smooth student: 1e-5 in float64."""
    for through in (1, 2, 5):
        data = data_of("smooth", through)
        exact, _, _ = by_engine("smooth", rule, data, through=through)
        near, _, _ = by_engine("smooth", rule, data, through=through, trajectory="finite")
        assert 0 < relative_error(near, exact) < 1e-5


def test_the_fallback_in_float32_is_good_to_a_percent():
    data = data_of("smooth", 1, dtype=torch.float32)
    single = torch.float32
    exact, _, _ = by_engine("smooth", "momentum", data, through=1, dtype=single)
    near, _, _ = by_engine("smooth", "momentum", data, through=1, dtype=single, trajectory="finite")
    assert relative_error(near, exact) < 1e-2


def test_the_fallback_is_said_in_the_log(caplog):
    caplog.set_level("INFO", "reweigh")
    by_engine("smooth", "sgd", data_of("smooth", 1), through=1, trajectory="finite")
    assert "finite differences: approximate" in caplog.text


def test_awake_teachers_are_not_flat():
    """The tests above would be blind at weights that are all alike."""
    student = build("smooth")
    teacher = awake(interaction(student), student)
    assert all(p.std() > 0.1 for p in teacher.parameters())
