"""The mean of several students."""

import torch

from reweigh.models.average import State, averaged


def state(value: float, steps: int) -> State:
    return {"w": torch.full((2,), value), "steps": torch.tensor(steps)}


def test_floats_are_averaged_and_counters_are_the_last() -> None:
    mean: State = {}
    for number, value in enumerate((1.0, 2.0, 6.0), start=1):
        mean = averaged(mean, one := state(value, 4 + number), number)
        one["w"].zero_()  # a student goes on learning
    assert mean["w"].tolist() == [3.0, 3.0]
    assert mean["w"].dtype == torch.float32
    assert mean["steps"].item() == 7
