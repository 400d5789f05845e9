"""Autocast in float16, on students whose gradients are too small for it: as float32 has it."""

import pytest
import torch
import torch.nn.functional as F
from tests.metagrad.brute_force import relative_error
from tests.metagrad.exactness import allowed, by_engine, by_force, data_of
from tests.metagrad.students import Data, build, data_for, interaction
from torch import Tensor, nn

import reweigh
from reweigh.errors import UsageError
from reweigh.metagrad import half
from reweigh.metagrad.directional import Derivatives
from reweigh.student.moment import Moment

STUDENTS = ["smooth", "smooth conv+bn", "attention"]


def fitted(name: str, sure: float = 11.0) -> tuple[nn.Module, Data]:
    """A student that is sure of all labels: losses of about 1e-5, as after a long training."""
    student = build(name, torch.float32)
    for layer in student.modules():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0
    data = data_for(name, 3, n=16, dtype=torch.float32)
    with torch.no_grad():
        student.fc.bias[0] += sure
    told = [(x, torch.zeros_like(y)) for x, y in [*data.batches, data.trusted]]
    return student, Data(told[:-1], told[-1])


def held(name: str, sure: float = 11.0, **options: object) -> tuple[reweigh.Reweigher, Data]:
    student, data = fitted(name, sure)
    optimizer = torch.optim.SGD(student.parameters(), 1e-3, momentum=0.9)
    options = {"every": None, "trusted": data.trusted} | options
    return reweigh.Reweigher(student, optimizer, interaction(student), **options), data


def found(name: str, dtype: torch.dtype | None, **options: object) -> dict[str, Tensor]:
    reweigher, data = held(name, **options)
    with torch.autocast("cpu", dtype or torch.float16, enabled=dtype is not None):
        for batch in data.batches:
            reweigher.step(*batch)
        return reweigher.meta_gradient(data.trusted)


@pytest.mark.parametrize("name", STUDENTS)
@pytest.mark.parametrize("trajectory", ["kept", "snapshots", "reversal"])
def test_a_fitted_student_teaches_what_it_does_in_float32(name, trajectory):
    """To 4 %, where bfloat16 is off by up to 8 %, and float16 without scales by 35 to 100 %."""
    for through in (1, 2):
        options = {"through": through, "trajectory": trajectory}
        expected = found(name, None, **options)
        assert relative_error(found(name, torch.float16, **options), expected) < 0.04


def test_deeper_interaction():
    expected = found("smooth", None, through=2, deeper=True)
    assert relative_error(found("smooth", torch.float16, through=2, deeper=True), expected) < 0.03


def test_hessian_vector_products():
    """They are made of two small things, and added to one that hides them in dω."""
    product = {}
    for dtype in (None, torch.float16):
        reweigher, data = held("smooth conv+bn", through=2, trajectory="kept")
        with torch.autocast("cpu", torch.float16, enabled=dtype is not None):
            reweigher.step(*data.batches[0])
        engine = reweigher.engine
        (step,) = engine.steps
        u = {k: 1e-9 * t.sign() for k, t in step.theta.items()}
        pulled = engine.derivatives.pull(step.passes[0], step.theta, u, want_theta=True, keep=False)
        product[dtype] = pulled.theta
    assert relative_error(product[torch.float16], product[None]) < 0.05


def test_looking_ahead():
    moved = {}
    for dtype in (None, torch.float16):
        reweigher, data = held("smooth", every=1, lookahead=True)
        teacher = reweigher.teacher
        reweigher.lessons.optimizer = torch.optim.SGD(teacher.parameters(), 1e6)
        before = {n: p.detach().clone() for n, p in teacher.named_parameters()}
        with torch.autocast("cpu", torch.float16, enabled=dtype is not None):
            reweigher.step(*data.batches[0])
        moved[dtype] = {n: p.detach() - before[n] for n, p in teacher.named_parameters()}
    assert relative_error(moved[torch.float16], moved[None]) < 0.03


@pytest.mark.parametrize("trajectory", ["kept", "snapshots"])
def test_what_would_overflow_is_scaled_down(trajectory):
    def large(student: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
        return 1e6 * F.cross_entropy(student(batch[0]), 2 - batch[1], reduction="none")

    options = {"through": 2, "trajectory": trajectory, "trusted_loss": large}
    if trajectory == "kept":  # else the step itself overflows, as without us
        options |= {"per_sample_loss": large, "clip_norm": 1.0}
    expected = found("smooth", None, **options)
    assert relative_error(found("smooth", torch.float16, **options), expected) < 0.03


class Inside(nn.Module):
    """Autocast where nobody sees it: around the layers, and answers in float32."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.first, self.fc = inner.first, inner.fc

    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.float16):
            return self.fc(F.gelu(self.first(x))).float()


def test_an_autocast_inside_the_student_is_met():
    student, data = fitted("smooth")
    student = Inside(student)
    optimizer = torch.optim.SGD(student.parameters(), 1e-3, momentum=0.9)
    options = {"trusted": data.trusted, "every": None, "through": 2}
    reweigher = reweigh.Reweigher(student, optimizer, interaction(student), **options)
    for batch in data.batches:
        reweigher.step(*batch)
    expected = found("smooth", None, through=2)
    assert relative_error(reweigher.meta_gradient(data.trusted), expected) < 0.03


@pytest.mark.parametrize("rule", ["momentum", "adam", "sgd+decay"])
@pytest.mark.parametrize("name", ["conv+bn", "attention+dropout"])
def test_scales_cost_no_exactness(name, rule, monkeypatch):
    """Against unrolled autograd in float64, with all scales on: 1e-10 as without them."""
    monkeypatch.setattr(Derivatives, "vanishing", lambda self, moment: True)
    for through in (1, 2, 5):
        data = data_of(name, through)
        expected, _ = by_force(name, rule, data, through=through)
        for trajectory in allowed(rule):
            options = {"through": through, "trajectory": trajectory}
            assert relative_error(by_engine(name, rule, data, **options)[0], expected) <= 1e-10


@pytest.mark.parametrize("autocast", [None, torch.bfloat16])
def test_nothing_is_scaled_elsewhere(autocast, monkeypatch):
    """Not a kernel, not a wait."""
    monkeypatch.setattr(half, "at_largest", None)
    monkeypatch.setattr("reweigh.metagrad.engine.at_largest", None)
    found("smooth", autocast, through=2)


def outside(scaler: torch.amp.GradScaler) -> None:
    """A loop of somebody else's, whose gradient is compared with a replay."""
    reweigher, data = held("smooth", sure=15.0)
    for batch in data.batches:
        reweigher.optimizer.zero_grad()
        with torch.autocast("cpu", torch.float16):
            loss = reweigher.loss(*batch)
        scaler.scale(loss).backward()
        scaler.unscale_(reweigher.optimizer)
        scaler.step(reweigher.optimizer)
        scaler.update()
        reweigher.after_step()


def test_a_loop_with_a_gradient_scaler_has_the_replayed_gradient():
    outside(torch.amp.GradScaler("cpu", 2.0**24))


def test_a_loop_without_one_is_told_of_it():
    with pytest.raises(UsageError, match="vanish without a GradScaler"):
        outside(torch.amp.GradScaler("cpu", enabled=False))


def test_a_step_without_a_scaler_says_so_once(caplog):
    found("smooth", torch.bfloat16)
    assert "GradScaler" not in caplog.text
    found("smooth", torch.float16)
    assert caplog.text.count("torch.amp.GradScaler") == 1


def test_scales_are_powers_of_two():
    theta = {"a": torch.full((3,), 0.3)}
    for size in (1e-30, 1e-9, 0.7, 5.0, 1e9):
        s = half.loss_scale(torch.tensor(size))
        t = half.direction_scale({"a": torch.full((3,), size)}, theta)
        assert s == 2.0 ** round(torch.tensor(s).log2().item())
        assert t == 2.0 ** round(torch.tensor(t).log2().item())
        assert s >= half.LOSS
    assert half.loss_scale(torch.tensor(float("nan"))) == 1.0
    assert half.direction_scale({"a": torch.zeros(3)}, theta) == 1.0


def test_only_float16_vanishes():
    for dtype, expected in ((torch.float16, True), (torch.bfloat16, False)):
        with torch.autocast("cpu", dtype):
            assert Moment.now(nn.Linear(1, 1)).in_float16 is expected
    assert not Moment.now(nn.Linear(1, 1)).in_float16
