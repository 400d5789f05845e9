import pytest
import torch

from reweigh.errors import UsageError
from reweigh.models.resnet import BasicBlock, ResNet, blocks_per_stage


@pytest.mark.parametrize(("depth", "parameters"), [(20, 269_722), (32, 464_154), (110, 1_727_962)])
def test_has_the_published_number_of_parameters(depth, parameters):
    model = ResNet(3, 10, depth=depth)
    assert sum(p.numel() for p in model.parameters()) == parameters


@pytest.mark.parametrize("depth", [8, 14, 20])
def test_depth_counts_convolutions_and_the_last_layer(depth):
    weights = [p for p in ResNet(3, 10, depth=depth).parameters() if p.ndim in (2, 4)]
    assert len(weights) == depth


def test_last_layer_sees_64_features_and_gives_logits():
    model = ResNet(3, 7, depth=8)
    assert model.fc.in_features == 64
    assert model(torch.rand(2, 3, 32, 32)).shape == (2, 7)


def test_option_a_shortcut_subsamples_and_pads_channels_with_zeros():
    block = BasicBlock(2, 6, stride=2)
    x = torch.rand(1, 2, 4, 4)
    shortcut = block._shortcut(x)
    assert torch.equal(shortcut[:, 2:4], x[:, :, ::2, ::2])
    assert not shortcut[:, :2].any()
    assert not shortcut[:, 4:].any()


def test_a_block_whose_residual_is_silent_passes_its_positive_input_on():
    block = BasicBlock(4, 4, stride=1)
    torch.nn.init.zeros_(block.bn2.weight)
    x = torch.rand(2, 4, 5, 5)
    assert torch.equal(block(x), x)


def test_convolutions_start_kaiming_normal():
    weight = ResNet(3, 10, depth=32).layer3[3].conv2.weight
    expected = (2 / (64 * 9)) ** 0.5
    assert weight.std().item() == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize(("depth", "nearest"), [(18, "14 or 20"), (2, "8 or 14"), (0, "8 or 14")])
def test_other_depths_are_refused_with_the_nearest(depth, nearest):
    with pytest.raises(UsageError, match=f"got depth {depth}; use {nearest}"):
        blocks_per_stage(depth)
