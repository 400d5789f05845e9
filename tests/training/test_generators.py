import random

import numpy as np
import torch

from reweigh.training.generators import generator_states, seeded, set_generator_states

CPU = torch.device("cpu")


def draws() -> list[float]:
    return [
        random.random(),
        random.gauss(0, 1),
        np.random.rand(),
        np.random.randn(),
        torch.rand(()).item(),
    ]


def test_generators_go_on_where_they_were() -> None:
    before = generator_states(CPU)
    draws()
    half_way = generator_states(CPU)
    expected = draws()
    draws()
    set_generator_states(half_way, CPU)
    assert draws() == expected
    set_generator_states(before, CPU)


def test_a_seed_decides_inside_and_leaves_no_trace() -> None:
    before = generator_states(CPU)
    found = []
    for seed in (3, 3, 2**63 - 1):
        with seeded(seed, CPU):
            found.append(draws())
    assert found[0] == found[1] != found[2]
    expected = draws()
    set_generator_states(before, CPU)
    assert draws() == expected
