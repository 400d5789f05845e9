"""What a refused pass wrote is put back, and the copies behind that are made once."""

import torch
from torch import nn

from reweigh.stepping.written_buffers import WrittenBuffers


def test_a_refused_pass_is_undone_step_after_step_with_the_same_copies() -> None:
    net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 3), nn.BatchNorm1d(3))
    guard, copies = WrittenBuffers(net), {}
    for _ in range(3):
        guard.keep()
        before = {name: b.clone() for name, b in net.named_buffers()}
        net(torch.randn(5, 3))
        guard.put_back()
        for name, b in net.named_buffers():
            assert torch.equal(b, before[name])
        assert all(copies.get(name, kept) is kept for name, kept in guard._kept.items())
        copies = dict(guard._kept)
        net(torch.randn(5, 3))  # a pass that counts


def test_a_buffer_of_another_shape_or_precision_gets_a_copy_of_its_own() -> None:
    net = nn.BatchNorm1d(3)
    guard = WrittenBuffers(net)
    guard.keep()
    net.running_mean = torch.ones(3, dtype=torch.float64)
    guard.keep()
    net.running_mean.zero_()
    guard.put_back()
    assert torch.equal(net.running_mean, torch.ones(3, dtype=torch.float64))
