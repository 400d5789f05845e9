"""The reference itself: its differentiable updates are those of torch.optim."""

import pytest
import torch
from tests.metagrad.brute_force import RULES, updated


@pytest.mark.parametrize("rule", RULES)
def test_the_references_updates_are_torchs_step_by_step(rule):
    torch.manual_seed(0)
    p = torch.nn.Parameter(torch.randn(5, dtype=torch.float64))
    optimizer = RULES[rule]([p])
    theta, state = p.detach().clone(), {}
    for t in range(6):
        p.grad = torch.randn(5, dtype=torch.float64)
        optimizer.param_groups[0]["lr"] *= 1 - 0.1 * t
        settings = optimizer.param_groups[0]
        theta, state = updated(type(optimizer).__name__, settings, theta, p.grad, state)
        optimizer.step()
        torch.testing.assert_close(theta, p.detach(), rtol=1e-14, atol=1e-15)
