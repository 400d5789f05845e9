import pytest
import torch
from torch import nn

from reweigh.errors import UsageError
from reweigh.models.build import build
from reweigh.models.layers import internal_layers


@pytest.mark.parametrize(
    ("name", "shape", "expected"),
    [
        ("resnet14", (3, 32, 32), ["fc", "layer3.1.conv2", "layer2.1.conv2", "layer1.1.conv2"]),
        ("wrn-10-1", (3, 32, 32), ["fc", "layer3.0.conv2", "layer2.0.conv2", "layer1.0.conv2"]),
        ("cnn", (1, 28, 28), ["fc", "conv3", "conv1"]),
        ("mlp", (20,), ["fc"]),
    ],
)
def test_finds_the_papers_layers_of_every_built_in_model(name, shape, expected):
    layers = internal_layers(build(name, shape, 10, seed=0), torch.zeros(1, *shape))
    assert layers == {f"I{i}": layer for i, layer in enumerate(expected)}


class Reversed(nn.Module):
    """Registers its layers against the order in which they run, writes to a buffer, draws noise."""

    def __init__(self):
        super().__init__()
        self.last = nn.Linear(8, 2)
        self.first = nn.Linear(4, 8)
        self.norm = nn.BatchNorm1d(8)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        self.seen += 1
        return self.last(self.norm(self.first(x + torch.randn_like(x))))


def test_the_last_layer_is_the_one_that_runs_last():
    model = Reversed()
    assert internal_layers(model, torch.zeros(1, 4)) == {"I0": "last"}


@pytest.mark.parametrize("training", [True, False])
def test_leaves_mode_buffers_and_random_numbers_untouched(training):
    model = Reversed().train(training)
    model.norm.train(not training)  # a mixed mode, as with frozen BatchNorm
    modes = [module.training for module in model.modules()]
    state = {name: value.clone() for name, value in model.state_dict().items()}
    generator = torch.get_rng_state()
    internal_layers(model, torch.rand(1, 4, generator=torch.Generator().manual_seed(0)))
    assert [module.training for module in model.modules()] == modes
    assert all(torch.equal(state[name], value) for name, value in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), generator)
    assert not any(module._forward_hooks for module in model.modules())


def test_is_restored_even_when_the_forward_pass_fails():
    model = Reversed()
    with pytest.raises(RuntimeError):
        internal_layers(model, torch.zeros(1, 5))
    assert all(module.training for module in model.modules())
    assert not any(module._forward_hooks for module in model.modules())


def test_a_model_without_a_linear_layer_is_told():
    with pytest.raises(UsageError, match=r"Conv2d runs no nn\.Linear layer"):
        internal_layers(nn.Conv2d(1, 2, 3), torch.zeros(1, 1, 8, 8))
