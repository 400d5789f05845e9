"""Samples as small pictures inside the page."""

import base64
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIDE = 96
"""Longest side in pixels; smaller images keep theirs, and the page enlarges them unblurred."""


def picture(image: NDArray[Any]) -> str:
    """A uint8 image (h, w, c) as the address of an inline PNG."""
    from PIL import Image

    pixels = image[..., 0] if image.shape[-1] == 1 else image[..., :3]  # (h, w) or (h, w, 3)
    small = Image.fromarray(np.ascontiguousarray(pixels))
    small.thumbnail((SIDE, SIDE))
    file = io.BytesIO()
    small.save(file, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")
