"""What a teacher of one's own may get wrong is said in a sentence, on the first batch or lesson."""

import random

import pytest
import torch
import torch.nn.functional as F
from tests.test_any_loop import X, Y, held, net
from torch import Tensor, nn

import reweigh
from reweigh.errors import UnsupportedError, UsageError


class Own(reweigh.Teacher):
    """A learned scale of the loss, spoiled by `spoil`."""

    def __init__(self, spoil=lambda w: w, **settings) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(()))
        self.spoil = spoil
        for name, value in settings.items():
            setattr(self, name, value)

    def forward(self, seen: reweigh.Seen) -> Tensor:
        return self.spoil(torch.sigmoid(self.scale * seen.losses))


class Counting:
    """A state of its own, which nobody could put back."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, w: Tensor) -> Tensor:
        self.calls += 1
        return w / self.calls


@pytest.mark.parametrize("deeper", [False, True])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda w: w * torch.rand_like(w),
        lambda w: w + 0 * torch.rand(()),  # the same weights, but who knows of the next ones
        lambda w: F.dropout(w, 0.3),
        lambda w: w * random.random(),
    ],
)
def test_a_teacher_that_draws_is_refused_before_the_first_step(spoil, deeper: bool) -> None:
    one = held(teacher=Own(spoil), every=2, through=1, deeper=deeper)
    with pytest.raises(UnsupportedError, match=r"draws random numbers each time.*seen\.ids"):
        one.step(X, Y)
    assert one.clock.steps == 0


def test_a_teacher_with_a_generator_or_counter_of_its_own_is_refused() -> None:
    own = torch.Generator().manual_seed(0)
    for spoil in (lambda w: w * torch.rand(len(w), generator=own), Counting()):
        with pytest.raises(UnsupportedError, match="gives other weights each time"):
            held(teacher=Own(spoil), every=2, through=1).step(X, Y)


def test_a_teacher_that_learns_nothing_may_draw() -> None:
    one = held(teacher=Own(torch.rand_like, meta_learned=False))
    assert one.step(X, Y).weights.shape == (12,)


def test_a_teacher_is_asked_twice_before_the_first_step_only() -> None:
    asked: list[int] = []
    teacher = Own(lambda w: (asked.append(1), w)[1])
    one = held(teacher=teacher, every=100, through=1)
    one.step(X, Y)
    first = len(asked)
    one.step(X, Y)
    assert (first, len(asked)) == (3, 4)


def test_asking_the_teacher_draws_nothing_from_the_loop() -> None:
    one = held(teacher=Own())
    before = torch.get_rng_state()
    one.step(X, Y)
    assert torch.equal(before, torch.get_rng_state())


class Inside(Own):
    """Reads a state; whether it has a tap there is another matter."""

    def __init__(self, key: str, *taps: reweigh.Tap) -> None:
        super().__init__()
        self.key, self.taps = key, taps

    def forward(self, seen: reweigh.Seen) -> Tensor:
        return torch.sigmoid(self.scale * seen.states[self.key].mean(1))


def test_a_state_without_a_tap_is_told_with_the_tap_that_would_show_it() -> None:
    with pytest.raises(UsageError, match=r"show none: .*reweigh\.Tap\('2', 'output'\)"):
        held(teacher=Inside("2:output")).step(X, Y)
    with pytest.raises(UsageError, match=r"'2', but .* show '2:output': .*Tap\('2', 'input'\)"):
        held(teacher=Inside("2", reweigh.Tap("2", "output"))).step(X, Y)
    held(teacher=Inside("2:output", reweigh.Tap("2", "output"))).step(X, Y)


@pytest.mark.parametrize("cut", [Tensor.detach, lambda w: torch.tensor(w.tolist())])
@pytest.mark.parametrize("how", [{}, {"lookahead": True}, {"deeper": True}])
def test_weights_without_a_graph_are_told(cut, how: dict[str, bool]) -> None:
    one = held(net(), teacher=Own(cut), every=1, **how)
    with pytest.raises(UsageError, match=r"do not depend on its parameters.*detach\(\)"):
        one.step(X, Y)


def test_a_teacher_may_begin_without_its_parameters() -> None:
    """Weights of 1 at first need no graph, as long as the first lesson finds one."""
    calls: list[int] = []

    def late(w: Tensor) -> Tensor:
        calls.append(1)
        return torch.ones_like(w) if len(calls) <= 3 else w

    one = held(teacher=Own(late), every=3, through=1)
    for _ in range(3):
        one.step(X, Y)
    assert one.clock.updates == 1
