"""Where tensors are held: torch's own names, and every change is seen."""

import torch
from torch import nn

from reweigh.student.anatomy import Anatomy, modules_of


def network() -> nn.Sequential:
    net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 3, bias=False))
    net[2].weight = net[0].weight  # tied
    return net


def named(one: Anatomy) -> list[tuple[str, bool]]:
    return [(place.name, place.is_parameter) for place in one.places()]


def test_names_are_torch_s_and_tied_tensors_have_that_of_the_first() -> None:
    net = network()
    one = Anatomy(net)
    parameters = [name for name, is_parameter in named(one) if is_parameter]
    assert set(parameters) == set(dict(net.named_parameters()))
    assert parameters.count("0.weight") == 2
    assert {name for name, is_parameter in named(one) if not is_parameter} == set(
        dict(net.named_buffers())
    )
    for home, key, name, _ in one.places():
        assert home[key] is (dict(net.named_parameters()) | dict(net.named_buffers()))[name]


def test_what_is_added_replaced_or_taken_away_is_seen() -> None:
    net = network()
    one = Anatomy(net)
    first = one.places()
    assert one.places() is first
    net[2].weight = nn.Parameter(torch.ones(3, 3))  # no longer tied
    assert ("2.weight", True) in named(one)
    net.append(nn.Linear(3, 1))
    assert ("3.bias", True) in named(one)
    net[0].bias = None
    assert ("0.bias", True) not in named(one)
    net[1].running_mean = torch.ones(3)
    assert one.places() is not first


def test_modules_come_in_torch_s_order_each_once() -> None:
    shared = nn.Linear(2, 2)
    inner = nn.Sequential(nn.ReLU(), shared, nn.Sequential(shared, nn.Tanh()))
    net = nn.Sequential(shared, inner, nn.ModuleDict({"again": inner, "last": nn.Linear(2, 1)}))
    net.register_module("none", None)
    net.append(net[0])
    assert [id(m) for m in modules_of(net)] == [id(m) for m in net.modules()]
