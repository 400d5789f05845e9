"""Before the first step: which kernels can be differentiated, and at what cost."""

import gc
import weakref

import torch
import torch.nn.functional as F
from torch import nn

import reweigh


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
