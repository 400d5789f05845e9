import numpy as np
import pytest

from reweigh.errors import UsageError
from reweigh.text.noise import MaskNoise, parse_noise, plant

LINES = [[f"w{k}"] * 20 for k in range(5000)]


def test_shares_are_those_asked_for():
    source, target, changed = plant(LINES, LINES, MaskNoise(0.1, 0.15), seed=3)
    assert changed.mean() == pytest.approx(0.1, abs=0.015)
    for side in (source, target):
        masked = np.asarray([[w == "<MASK>" for w in line] for line in side])
        assert masked[changed].mean() == pytest.approx(0.15, abs=0.01)
        assert not masked[~changed].any()
    assert all(line[0].startswith("w") for line in LINES)  # what came in is as it was


def test_the_seed_decides():
    one, again, other = (plant(LINES, LINES, MaskNoise(0.5), seed)[2] for seed in (1, 1, 2))
    assert (one == again).all()
    assert (one != other).any()


def test_how_it_is_written():
    assert parse_noise("none") is None
    assert parse_noise("mask:0.1") == MaskNoise(0.1, 0.15)
    assert parse_noise("mask:0.1:0.3") == MaskNoise(0.1, 0.3)


@pytest.mark.parametrize(
    "text", ["", "mask", "mask:x", "mask:2", "mask:nan", "mask:1:1:1", "flip:0.4"]
)
def test_other_noise_is_refused(text):
    with pytest.raises(UsageError, match=r"expected none, mask:P or mask:P:Q"):
        parse_noise(text)
