"""In one process the synchronised layer is the stock one; tests of several stand in test_processes."""

import pytest
import torch
from torch import nn

import reweigh
from reweigh.distributed import sync_batch_norm
from reweigh.distributed.sync_batch_norm import SynchronisedBatchNorm
from reweigh.errors import UnsupportedError


def test_parameters_buffers_and_names_stay():
    net = nn.Sequential(nn.Conv2d(1, 2, 1), nn.Sequential(nn.BatchNorm2d(2)))
    before = dict(net.named_parameters()) | dict(net.named_buffers())
    synced = sync_batch_norm(net)
    after = dict(synced.named_parameters()) | dict(synced.named_buffers())
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)
    assert isinstance(synced.get_submodule("1.0"), SynchronisedBatchNorm)


@pytest.mark.parametrize("training", [True, False])
def test_alone_it_is_the_stock_layer(training: bool):
    x = torch.randn(4, 3, 5)
    stock, ours = nn.BatchNorm1d(3).train(training), nn.BatchNorm1d(3).train(training)
    synced = sync_batch_norm(ours)
    assert torch.equal(synced(x), stock(x))
    assert torch.equal(ours.running_var, stock.running_var)


def test_sharded_students_are_refused():
    class FSDPModule(nn.Linear):
        """Named as torch names what `fully_shard` makes."""

    net = FSDPModule(2, 2)
    with pytest.raises(UnsupportedError, match="no second backward"):
        reweigh.Reweigher(net, torch.optim.SGD(net.parameters(), lr=0.1))


def test_a_layer_keeps_its_hooks_and_all_its_names():
    norm, calls = nn.BatchNorm1d(3), []
    norm.register_forward_hook(lambda *_: calls.append(1))
    net = nn.ModuleDict({"a": norm, "b": norm})
    synced = sync_batch_norm(net)
    assert synced["a"] is synced["b"]
    assert isinstance(synced["b"], SynchronisedBatchNorm)
    synced["b"](torch.randn(4, 3))
    assert calls == [1]


def test_a_layer_with_something_of_its_own_is_refused():
    class Activated(nn.BatchNorm1d):
        def forward(self, input):
            return super().forward(input).relu()

    net = nn.Sequential(nn.BatchNorm1d(3), Activated(3))
    with pytest.raises(UnsupportedError, match="Activated is a batch normalisation with something"):
        sync_batch_norm(net)
    assert type(net[0]) is nn.BatchNorm1d  # nothing half done
