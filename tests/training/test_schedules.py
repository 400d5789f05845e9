import math
import subprocess
import sys
from itertools import pairwise

import pytest
import torch

from reweigh.errors import UsageError
from reweigh.training.schedules import multiplier, parse, schedule


@pytest.mark.parametrize(
    ("name", "epochs", "marks"),
    [
        ("paper-clean", 300, (80, 120)),
        ("paper-uniform", 40, (36, 38)),
        ("paper-flip", 60, (40, 50)),
        ("paper-flip", 30, (20, 25)),
        ("step:0.5,0.75", 100, (50, 75)),
        ("step:0.1,0.7", 30, (3, 21)),
    ],
)
@pytest.mark.parametrize("steps", [1, 79, 391])
def test_falls_tenfold_exactly_at_the_marks(name, epochs, marks, steps):
    at = multiplier(name, epochs, steps)
    first, second = (mark * steps for mark in marks)
    expected = {0: 1, first - 1: 1, first: 0.1, second - 1: 0.1, second: 0.01}
    assert {step: at(step) for step in expected} == pytest.approx(expected)


def test_a_short_run_keeps_every_drop():
    at = multiplier("paper-uniform", epochs=15, steps_per_epoch=100)
    assert (at(1349), at(1350), at(1424), at(1425)) == pytest.approx((1, 0.1, 0.1, 0.01))


def test_cosine_falls_in_every_step_to_zero():
    at = multiplier("cosine", epochs=2, steps_per_epoch=50)
    values = [at(step) for step in range(101)]
    assert values[0] == 1
    assert values[25] == pytest.approx((1 + math.cos(math.pi / 4)) / 2)
    assert values[50] == pytest.approx(0.5)
    assert values[100] == 0
    assert all(a > b for a, b in pairwise(values))
    assert at(150) == 0  # a step past the end never rises again


def test_warm_up_is_linear_and_multiplies_the_schedule():
    at = multiplier("constant", epochs=4, steps_per_epoch=10, warmup_epochs=0.5)
    assert [at(step) for step in range(6)] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1, 1])
    cosine = multiplier("cosine", epochs=4, steps_per_epoch=10)
    both = multiplier("cosine", epochs=4, steps_per_epoch=10, warmup_epochs=0.5)
    assert both(1) == pytest.approx(0.4 * cosine(1))


def test_drives_every_parameter_group_of_an_optimiser():
    parameters = [torch.zeros(1, requires_grad=True) for _ in range(2)]
    groups = [{"params": [parameters[0]], "lr": 0.1}, {"params": [parameters[1]], "lr": 0.5}]
    optimizer = torch.optim.SGD(groups)
    scheduler = schedule("step:0.5", optimizer, epochs=2, steps_per_epoch=3)
    rates = []
    for _ in range(6):
        rates.append([group["lr"] for group in optimizer.param_groups])
        optimizer.step()
        scheduler.step()
    assert rates[:3] == [[0.1, 0.5]] * 3
    assert all(rate == pytest.approx([0.01, 0.05]) for rate in rates[3:])


def test_takes_up_where_its_state_was_saved():
    def fresh():
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
        return optimizer, schedule("cosine", optimizer, epochs=2, steps_per_epoch=5)

    optimizer, scheduler = fresh()
    for _ in range(4):
        optimizer.step()
        scheduler.step()
    again, resumed = fresh()
    again.load_state_dict(optimizer.state_dict())
    resumed.load_state_dict(scheduler.state_dict())
    for pair in ((optimizer, scheduler), (again, resumed)):
        pair[0].step()
        pair[1].step()
    assert again.param_groups[0]["lr"] == optimizer.param_groups[0]["lr"]


@pytest.mark.parametrize(
    "marks",
    [
        "",
        "nan",
        "0.5,nan",
        "inf",
        "0.75,0.5",
        "0.5,0.5",
        "0",
        "1",
        "-0.5",
        "1.5",
        "0.5,",
        "x",
        "1e999999999",
    ],
)
def test_marks_that_are_no_rising_shares_are_refused(marks):
    with pytest.raises(UsageError, match="rising shares of the run between 0 and 1"):
        parse(f"step:{marks}")


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match="no schedule 'cosin'; did you mean cosine"):
        parse("cosin")
    with pytest.raises(UsageError, match="paper-clean, paper-uniform"):
        parse("zzz")


@pytest.mark.parametrize("warmup", [math.nan, -1, 5, math.inf])
def test_a_warm_up_outside_the_run_is_refused(warmup):
    with pytest.raises(UsageError, match="0 to 4 epochs"):
        multiplier("constant", 4, 10, warmup_epochs=warmup)


@pytest.mark.parametrize(("epochs", "steps"), [(0, 10), (4, 0)])
def test_a_run_without_steps_is_refused(epochs, steps):
    with pytest.raises(UsageError, match="at least one epoch of one step"):
        multiplier("constant", epochs, steps)


def test_names_can_be_checked_without_loading_torch():
    code = (
        "import sys; from reweigh.training.schedules import parse; parse('cosine'); "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_inverse_sqrt_warms_up_in_steps_and_falls_like_the_root():
    at = multiplier("inverse-sqrt:100", epochs=3, steps_per_epoch=1000)
    assert [at(step) for step in (0, 49, 99, 399, 9999)] == pytest.approx([0.01, 0.5, 1, 0.5, 0.1])
    with pytest.raises(UsageError, match="needs steps of warm-up"):
        multiplier("inverse-sqrt:0", 1, 1)


def test_a_run_of_so_many_steps_ends_its_schedule_with_them():
    at = multiplier("cosine", epochs=2, steps_per_epoch=50, steps=60)
    assert at(30) == pytest.approx(0.5)
    assert at(60) == 0
