"""One virtual step of plain SGD ahead, against brute-force autograd in float64."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from tests.metagrad.brute_force import RULES, Unrolled, relative_error
from tests.metagrad.exactness import groups_of
from tests.metagrad.students import awake, build, data_for, interaction
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.attention import SDPBackend, sdpa_kernel

import reweigh
from reweigh.metagrad.lookahead import Lookahead
from reweigh.student.batch import cross_entropy

KINDS = ["smooth", "conv+bn", "lstm", "attention", "shared+frozen+unused"]
TEACHERS = {
    "curve": lambda s: awake(reweigh.LossCurveTeacher(7), s),
    "curve, sum": lambda s: awake(reweigh.LossCurveTeacher(7, normalise="sum"), s),
    "interaction": interaction,
}


def student_of(name: str) -> nn.Module:
    """Without dropout: the reference would draw other masks."""
    student = build(name)
    for layer in student.modules():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0
    return student


def looked_ahead(name: str, rule: str, make, ask, *, groups: bool = False) -> list[Any]:
    """What `ask(lookahead)` gives before each of two steps; the student is proved not to move."""
    student = student_of(name)
    teacher = make(student)
    answers = []

    def look(ahead: Lookahead) -> None:
        before = {n: t.clone() for n, t in student.state_dict().items()}
        answers.append((before, ask(ahead)))
        for n, t in student.state_dict().items():
            assert torch.equal(t, before[n]), n

    teacher.look_ahead = look
    optimizer = RULES[rule](groups_of(student) if groups else student.parameters())
    data = data_for(name, 2)
    held = reweigh.Reweigher(
        student, optimizer, teacher, trusted=data.trusted, every=1, lookahead=True
    )
    for batch in data.batches:
        held.step(*batch)
    return answers


@sdpa_kernel(SDPBackend.MATH)  # the fused kernel cannot be differentiated twice
def unrolled(name: str, state: dict[str, Tensor], step: int, make, groups: bool):
    """∂M(θ̂)/∂ω by autograd through one step of plain SGD from `state`."""
    student = student_of(name)
    teacher = make(student)
    student.load_state_dict(state)
    optimizer = RULES["sgd"](groups_of(student) if groups else student.parameters())
    data = data_for(name, 2)
    return Unrolled(student, optimizer, teacher, through=1).run([data.batches[step]], data.trusted)


@pytest.mark.parametrize("teacher", TEACHERS)
@pytest.mark.parametrize("name", KINDS)
def test_the_gradient_is_that_of_one_plain_step(name: str, teacher: str) -> None:
    make = TEACHERS[teacher]
    answers = looked_ahead(name, "sgd", make, lambda ahead: ahead.gradient())
    for step, (state, found) in enumerate(answers):
        expected = unrolled(name, state, step, make, groups=False)
        assert any(e.abs().max() > 1e-9 for e in expected.values())
        assert relative_error(dict(zip(expected, found, strict=True)), expected) <= 1e-10


@pytest.mark.parametrize("rule", ["momentum", "nesterov+decay"])
def test_momentum_and_decay_of_the_real_optimizer_are_left_out(rule: str) -> None:
    make = TEACHERS["curve"]
    answers = looked_ahead("conv+bn", rule, make, lambda ahead: ahead.gradient())
    state, found = answers[1]  # momentum is warm
    expected = unrolled("conv+bn", state, 1, make, groups=False)
    assert relative_error(dict(zip(expected, found, strict=True)), expected) <= 1e-10


def test_every_group_steps_at_its_own_rate() -> None:
    make = TEACHERS["curve"]
    answers = looked_ahead("conv+bn", "sgd", make, lambda ahead: ahead.gradient(), groups=True)
    state, found = answers[0]
    expected = unrolled("conv+bn", state, 0, make, groups=True)
    assert relative_error(dict(zip(expected, found, strict=True)), expected) <= 1e-10
    other = unrolled("conv+bn", state, 0, make, groups=False)
    assert relative_error(other, expected) > 1e-3


@pytest.mark.parametrize("name", KINDS)
def test_slopes_at_zero_are_minus_the_rate_times_the_dot_of_gradients(name: str) -> None:
    answers = looked_ahead(name, "sgd", TEACHERS["curve"], lambda ahead: ahead.slopes_at_zero())
    for step, (state, found) in enumerate(answers):
        expected = slopes_by_force(name, state, step, rate=0.2)
        assert expected.abs().max() > 1e-9
        torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-13)


def test_an_optimizer_that_goes_uphill_is_looked_ahead_of_uphill() -> None:
    """Maximising −ℓ is minimising ℓ."""

    def slopes(sign: int) -> Tensor:
        student, data = student_of("smooth"), data_for("smooth", 1)
        teacher, found = awake(reweigh.LossCurveTeacher(7), student), []
        teacher.look_ahead = lambda ahead: found.append(ahead.slopes_at_zero())
        reweigh.Reweigher(
            student, torch.optim.SGD(student.parameters(), lr=0.2, maximize=sign < 0), teacher,
            trusted=data.trusted, every=1, lookahead=True, trusted_loss=cross_entropy,
            per_sample_loss=lambda s, b: sign * cross_entropy(s, b),
        ).step(*data.batches[0])  # fmt: skip
        return found[0]

    assert slopes(1).abs().max() > 1e-6
    torch.testing.assert_close(slopes(-1), slopes(1), rtol=1e-10, atol=1e-13)


@sdpa_kernel(SDPBackend.MATH)
def slopes_by_force(name: str, state: dict[str, Tensor], step: int, rate: float) -> Tensor:
    """∂M(θ − η ∂(ε·ℓ)/∂θ)/∂ε at ε = 0, (n,), by two backward passes of autograd."""
    student = student_of(name)
    student.load_state_dict(state)
    theta = {n: p for n, p in student.named_parameters() if p.requires_grad}
    data = data_for(name, 2)

    def losses(at: dict[str, Tensor], batch: tuple[Tensor, Tensor]) -> Tensor:
        buffers = {n: b.clone() for n, b in student.named_buffers()}
        out = functional_call(student, {**at, **buffers}, (batch[0],))
        return F.cross_entropy(out, batch[1], reduction="none")

    own = losses(theta, data.batches[step])
    epsilon = torch.zeros_like(own, requires_grad=True)
    g = torch.autograd.grad(
        (epsilon * own).sum(), list(theta.values()), create_graph=True, allow_unused=True
    )
    moved = {
        n: p if d is None else p - rate * d for (n, p), d in zip(theta.items(), g, strict=True)
    }
    return torch.autograd.grad(losses(moved, data.trusted).mean(), epsilon)[0]
