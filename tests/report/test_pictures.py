import base64
import io

import numpy as np
import pytest
from PIL import Image

from reweigh.report.pictures import SIDE, picture


def opened(address: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2])))


@pytest.mark.parametrize("channels", [1, 3])
def test_small_images_keep_every_pixel(channels: int) -> None:
    pixels = np.random.default_rng(0).integers(0, 255, (63, 40, channels), dtype=np.uint8)
    address = picture(pixels)
    assert address.startswith("data:image/png;")
    np.testing.assert_array_equal(np.array(opened(address)).reshape(pixels.shape), pixels)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_photos_fill_a_card_and_take_little(channels: int) -> None:
    slope = np.linspace(0, 255, 300).astype(np.uint8)
    address = picture(np.repeat(np.add.outer(slope // 2, slope // 2)[..., None], channels, 2))
    assert address.startswith("data:image/jpeg;")
    assert max(opened(address).size) == SIDE
    assert len(address) < 10_000
