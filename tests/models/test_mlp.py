import pytest
import torch

from reweigh.errors import UsageError
from reweigh.models.mlp import MLP


def test_is_linear_relu_for_each_hidden_size_then_fc():
    model = MLP(5, 3, hidden=[4, 2])
    x = torch.rand(6, 5)
    first, _, second, _ = model.hidden
    expected = model.fc(torch.relu(second(torch.relu(first(x)))))
    assert torch.equal(model(x), expected)
    assert [p.shape for p in model.parameters() if p.ndim == 2] == [(4, 5), (2, 4), (3, 2)]


def test_without_hidden_sizes_is_linear():
    model = MLP(5, 3, hidden=[])
    x = torch.rand(6, 5)
    assert torch.equal(model(x), model.fc(x))


def test_flattens_images():
    assert MLP(64, 3)(torch.rand(2, 1, 8, 8)).shape == (2, 3)


@pytest.mark.parametrize("hidden", [[0], [8, -1], [2.5], "8", 8])
def test_sizes_that_are_no_positive_integers_are_refused(hidden):
    with pytest.raises(UsageError, match="list of positive integers"):
        MLP(5, 3, hidden=hidden)
