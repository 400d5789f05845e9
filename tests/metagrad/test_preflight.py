"""Before the first step: which kernels can be differentiated, and at what cost."""

import gc
import weakref

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import reweigh
from reweigh.metagrad import engine


def test_a_refused_graph_is_freed():
    """Neither a cycle that no collector sees, nor frames of the error may hold it."""

    class Attending(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(3, 8), nn.Linear(8, 2)

        def forward(self, x):
            h = torch.sigmoid(self.first(x))[:, None, None]
            seen.append(weakref.ref(h))
            return self.last(F.scaled_dot_product_attention(h, h, h)[:, 0, 0])

    seen = []
    student = Attending()
    batch = (torch.randn(5, 3), torch.arange(5) % 2)
    optimizer = torch.optim.SGD(student.parameters(), 0.1)
    held = reweigh.Reweigher(
        student, optimizer, reweigh.LossCurveTeacher(5), trusted=batch, every=2, through=2
    )
    gc.disable()
    try:
        for _ in range(2):
            held.step(*batch)
        assert held.engine.derivatives.kernels.plain_attention  # a rung was refused
        assert [one for one in seen if one() is not None] == []
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("options", "outside", "asked"),
    [
        ({}, False, False),  # graphs are kept: a second backward is all there is
        ({}, True, True),  # the loop's own backward leaves no graph
        ({"trajectory": "snapshots"}, False, True),
        ({"lookahead": True}, False, True),
    ],
)
def test_dual_numbers_are_tried_only_where_they_may_be_used(options, outside, asked, monkeypatch):
    """The first one of a process takes torch half a second."""
    tried = []
    monkeypatch.setattr(engine, "forward_mode", lambda *parts: tried.append(parts))
    student = nn.Linear(3, 2)
    batch = (torch.randn(5, 3), torch.arange(5) % 2)
    optimizer = torch.optim.SGD(student.parameters(), 0.1)
    held = reweigh.Reweigher(
        student, optimizer, reweigh.LossCurveTeacher(5), trusted=batch, every=1, **options
    )
    if outside:
        held.loss(*batch)
    else:
        held.step(*batch)
    assert bool(tried) == asked
    assert held.engine.derivatives.kernels.forward_mode == asked


def test_a_loop_that_leaves_the_backward_to_us_and_then_does_it_itself_is_taught_the_same():
    """What was not tried is not relied on."""

    def taught(first, then):
        torch.manual_seed(0)
        student = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
        optimizer = torch.optim.SGD(student.parameters(), 0.1, momentum=0.9)
        teacher = reweigh.LossCurveTeacher(5).double()
        batch = (torch.randn(6, 3).double(), torch.arange(6) % 2)
        held = reweigh.Reweigher(student, optimizer, teacher, trusted=batch, every=1)
        for way in (first, then):
            way(held, batch)
        return [p.detach().clone() for p in (*teacher.parameters(), *student.parameters())]

    def ours(held, batch):
        held.step(*batch)

    def theirs(held, batch):
        held.optimizer.zero_grad()
        held.loss(*batch).backward()
        held.optimizer.step()
        held.after_step()

    torch.testing.assert_close(taught(ours, theirs), taught(theirs, theirs), rtol=1e-10, atol=0)
