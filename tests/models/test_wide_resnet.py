import pytest
import torch

from reweigh.errors import UsageError
from reweigh.models.wide_resnet import PreActivationBlock, WideResNet


@pytest.mark.parametrize(("classes", "parameters"), [(10, 36_479_194), (100, 36_536_884)])
def test_wrn_28_10_has_the_published_number_of_parameters(classes, parameters):
    with torch.device("meta"):
        model = WideResNet(3, classes)
    assert sum(p.numel() for p in model.parameters()) == parameters


def test_gives_logits_of_64k_features():
    model = WideResNet(3, 5, depth=10, widen=2)
    assert model.fc.in_features == 128
    assert model(torch.rand(2, 3, 16, 16)).shape == (2, 5)


def test_a_shortcut_has_parameters_only_where_the_shape_changes():
    model = WideResNet(3, 10, depth=16, widen=2)
    for stage in (model.layer1, model.layer2, model.layer3):
        assert [block.shortcut is None for block in stage] == [False, True]


def test_a_block_adds_to_the_raw_input_not_to_the_activated_one():
    block = PreActivationBlock(4, 4, stride=1)
    torch.nn.init.zeros_(block.conv2.weight)
    x = torch.randn(2, 4, 5, 5)
    assert torch.equal(block(x), x)


def test_starts_by_fan_out_and_with_a_zero_bias():
    model = WideResNet(3, 10, depth=10, widen=4)
    weight = model.layer2[0].conv1.weight  # 64 → 128 channels
    assert weight.std().item() == pytest.approx((2 / (128 * 9)) ** 0.5, rel=0.03)
    assert not model.fc.bias.any()


def test_wrong_depth_and_width_are_refused():
    with pytest.raises(UsageError, match="got depth 32; use 28 or 34"):
        WideResNet(3, 10, depth=32)
    with pytest.raises(UsageError, match="at least 1, got 0"):
        WideResNet(3, 10, depth=10, widen=0)
