import pytest
import torch
from torch.nn.functional import cross_entropy

from reweigh.errors import UsageError
from reweigh.models.cnn import CNN


@pytest.mark.parametrize("side", [8, 28, 33])
def test_takes_any_size_of_image(side):
    model = CNN(1, 10)
    assert model(torch.rand(2, 1, side, side)).shape == (2, 10)
    assert model.fc.in_features == 64


def test_learns_where_a_stroke_is():
    torch.manual_seed(0)
    labels = torch.arange(256) % 4
    images = 0.3 * torch.randn(256, 1, 28, 28)
    for label, (top, left) in enumerate([(3, 3), (3, 17), (17, 3), (17, 17)]):
        images[labels == label, :, top : top + 8, left : left + 8] += 1
    model = CNN(1, 4, width=4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(30):
        optimizer.zero_grad()
        cross_entropy(model(images), labels).backward()
        optimizer.step()
    assert (model(images).argmax(dim=1) == labels).float().mean() > 0.98


@pytest.mark.parametrize("width", [0, -3, 2.5, "wide"])
def test_a_width_that_is_no_positive_integer_is_refused(width):
    with pytest.raises(UsageError, match="positive integer"):
        CNN(1, 10, width=width)
