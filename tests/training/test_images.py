import numpy as np
import pytest
import torch

from reweigh.errors import DataError
from reweigh.training.augment import crop_flip
from reweigh.training.images import Images, Normalisation


@pytest.fixture
def inputs():
    return np.random.default_rng(0).integers(0, 256, (2500, 8, 8, 3), dtype=np.uint8)


def test_statistics_are_those_of_each_channel(inputs):
    inputs = (inputs * np.array([1.0, 0.5, 0.1])).astype(np.uint8)
    statistics = Normalisation.of(inputs)
    np.testing.assert_allclose(statistics.mean, inputs.mean(axis=(0, 1, 2)), rtol=1e-12)
    np.testing.assert_allclose(statistics.std, inputs.std(axis=(0, 1, 2)), rtol=1e-12)


def test_a_constant_channel_is_divided_by_one():
    assert Normalisation.of(np.full((3, 4, 4, 1), 7, dtype=np.uint8)) == Normalisation(
        (7.0,), (1.0,)
    )


def test_training_images_come_out_with_mean_0_and_deviation_1(inputs):
    images = Images(inputs, Normalisation.of(inputs))
    batch = images.batch(torch.arange(len(images)), train=False)
    assert batch.dtype == torch.float32
    assert batch.shape == (2500, 3, 8, 8)
    torch.testing.assert_close(batch.mean(dim=(0, 2, 3)), torch.zeros(3), atol=1e-5, rtol=0)
    torch.testing.assert_close(batch.std(dim=(0, 2, 3)), torch.ones(3), atol=1e-4, rtol=0)


def test_other_images_use_the_training_statistics(inputs):
    images = Images(inputs[:4], Normalisation((10.0, 20.0, 30.0), (2.0, 4.0, 8.0)))
    batch = images.batch(torch.tensor([3, 1]), train=False)
    expected = (inputs[[3, 1]] - np.array([10.0, 20, 30])) / np.array([2.0, 4, 8])
    np.testing.assert_allclose(batch.numpy(), expected.transpose(0, 3, 1, 2), rtol=1e-5, atol=1e-5)


def test_augments_by_sample_id_for_training_only(inputs):
    ids = np.arange(len(inputs)) + 5000
    plain = Normalisation((0.0,) * 3, (1.0,) * 3)
    images = Images(inputs, plain, ids=ids, seed=3)
    indices = torch.tensor([7, 2, 900])
    expected = crop_flip(images.bytes[indices], indices + 5000, 3, 11).float()
    assert torch.equal(images.batch(indices, 11), expected)
    assert torch.equal(images.batch(indices, 11, train=False), images.bytes[indices].float())
    assert not torch.equal(images.batch(indices, 12), expected)


def test_grey_images_are_not_augmented_unless_asked():
    inputs = np.random.default_rng(0).integers(0, 256, (20, 8, 8, 1), dtype=np.uint8)
    statistics, indices = Normalisation.of(inputs), torch.arange(20)
    images = Images(inputs, statistics)
    assert torch.equal(images.batch(indices), images.batch(indices, train=False))
    asked = Images(inputs, statistics, augment="crop-flip")
    assert not torch.equal(asked.batch(indices), asked.batch(indices, train=False))


@pytest.mark.parametrize("train", [True, False])
def test_channels_last_changes_the_layout_and_no_value(inputs, train):
    statistics, indices = Normalisation.of(inputs), torch.arange(6)
    batch = Images(inputs, statistics, channels_last=True).batch(indices, train=train)
    assert batch.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(batch, Images(inputs, statistics).batch(indices, train=train))


def test_keeps_a_copy_of_its_own(inputs):
    images = Images(inputs[::-1], Normalisation.of(inputs))
    before = images.bytes.clone()
    inputs[:] = 0
    assert torch.equal(images.bytes, before)


@pytest.mark.parametrize(
    "wrong",
    [np.zeros((2, 8, 8, 3)), np.zeros((2, 8, 8), np.uint8), np.zeros((0, 8, 8, 3), np.uint8)],
)
def test_anything_but_bytes_of_four_dimensions_is_refused(wrong):
    with pytest.raises(DataError, match="Images must be uint8"):
        Images(wrong, Normalisation((0.0,), (1.0,)))


def test_a_wrong_number_of_ids_is_refused(inputs):
    with pytest.raises(DataError, match="2500 images need as many ids"):
        Images(inputs, Normalisation.of(inputs), ids=np.arange(3))
