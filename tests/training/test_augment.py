import math

import pytest
import torch
from torch.nn.functional import pad

from reweigh.errors import UsageError
from reweigh.hashed_draws import random_bits
from reweigh.training.augment import choose, crop_flip


def splitmix64(seed, count):
    """The published generator in Python integers: outputs 1 … count."""
    mask, state, out = (1 << 64) - 1, seed, []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        out.append(z ^ (z >> 31))
    return out


def draws(n, seed=0, epoch=0):
    """Shift and mirroring of each sample, read off an image whose pixels are their position.

    The middle of 11×11 stays the middle when mirrored, and its neighbours are never reflected.
    """
    side, middle = 11, 5
    position = torch.arange(side * side).view(1, 1, side, side).repeat(n, 1, 1, 1)
    out = crop_flip(position, torch.arange(n), seed, epoch)[:, 0]
    down = out[:, middle, middle] // side - middle
    right = out[:, middle, middle] % side - middle
    return down, right, out[:, middle, middle + 1] < out[:, middle, middle]


def chi_square(counts):
    expected = counts.sum() / len(counts)
    return float(((counts - expected) ** 2 / expected).sum())


def limit(cells):
    """Five standard deviations above the mean of χ² with cells − 1 degrees of freedom."""
    return cells - 1 + 5 * math.sqrt(2 * (cells - 1))


def test_bits_are_those_of_splitmix64():
    assert splitmix64(1234567, 2) == [6457827717110365317, 3203168211198807973]  # published
    bits = random_bits(torch.arange(50), seed=3, epoch=5)
    start = splitmix64(splitmix64(3, 1)[0] + 5, 1)[0]
    expected = splitmix64((start - 0x9E3779B97F4A7C15) % (1 << 64), 50)
    assert [b % (1 << 64) for b in bits.tolist()] == expected


def test_crops_and_mirrorings_are_uniform_and_independent():
    down, right, mirrored = draws(100_000)
    cell = ((down + 4) * 9 + right + 4) * 2 + mirrored
    counts = torch.bincount(cell, minlength=162).double()
    assert len(counts) == 162
    assert chi_square(counts) < limit(162)


@pytest.mark.parametrize("other", [{"epoch": 1}, {"seed": 1}, {"seed": -1}])
def test_two_epochs_and_two_seeds_are_independent(other):
    down, _, _ = draws(50_000)
    other_down, _, _ = draws(50_000, **other)
    counts = torch.bincount((down + 4) * 9 + other_down + 4, minlength=81).double()
    assert chi_square(counts) < limit(81)


def test_neighbouring_samples_are_independent():
    down, _, _ = draws(50_001)
    counts = torch.bincount((down[:-1] + 4) * 9 + down[1:] + 4, minlength=81).double()
    assert chi_square(counts) < limit(81)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_equals_padding_cropping_and_flipping_one_by_one(dtype):
    images = (torch.rand(64, 3, 12, 9) * 255).to(dtype)
    ids = torch.arange(1000, 1064)
    out = crop_flip(images, ids, seed=1, epoch=2)
    bits = [b % (1 << 64) for b in random_bits(ids, seed=1, epoch=2).tolist()]
    for image, mine, b in zip(images, out, bits, strict=True):
        top, left = (b & 0xFFFFFF) * 9 >> 24, (b >> 24 & 0xFFFFFF) * 9 >> 24
        padded = pad(image[None].float(), (4, 4, 4, 4), mode="reflect")[0]
        crop = padded[:, top : top + 12, left : left + 9]
        crop = crop.flip(2) if b >> 48 & 1 else crop
        assert torch.equal(mine, crop.to(dtype))


def test_a_sample_looks_the_same_in_any_batch():
    images, ids = torch.rand(40, 3, 8, 8), torch.randperm(10_000)[:40]
    whole = crop_flip(images, ids, seed=1, epoch=2)
    order = torch.randperm(40)
    for part in order.split(7):
        assert torch.equal(crop_flip(images[part], ids[part], seed=1, epoch=2), whole[part])


def test_draws_nothing_from_the_global_generator():
    before = torch.get_rng_state()
    crop_flip(torch.zeros(2, 1, 8, 8), torch.arange(2), seed=0, epoch=0)
    assert torch.equal(torch.get_rng_state(), before)


def test_takes_any_memory_format():
    images = torch.rand(5, 3, 8, 8)
    strided = images.to(memory_format=torch.channels_last)
    ids = torch.arange(5)
    assert torch.equal(crop_flip(strided, ids, 0, 0), crop_flip(images, ids, 0, 0))


def test_images_too_small_to_reflect_are_refused():
    with pytest.raises(UsageError, match="at least 5 wide and high, got 4×9"):
        crop_flip(torch.zeros(1, 1, 4, 9), torch.arange(1), 0, 0)


def test_auto_means_colour_only():
    assert choose("auto", channels=3) is crop_flip
    assert choose("auto", channels=1) is None
    assert choose("crop-flip", channels=1) is crop_flip
    assert choose("none", channels=3) is None
    with pytest.raises(UsageError, match="no augmentation 'mixup'"):
        choose("mixup", channels=3)
