"""Samples as small pictures inside the page."""

import base64
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIDE = 176
"""Longest side in pixels, about that of a card."""
TINY = 64
"""Images whose longest side is shorter keep every pixel, as PNG, and the page enlarges them unblurred."""
QUALITY = 85


def picture(image: NDArray[Any]) -> str:
    """A uint8 image (h, w, c) as the address of an inline PNG, or JPEG, a tenth as long for photos."""
    from PIL import Image

    pixels = image[..., 0] if image.shape[-1] == 1 else image[..., :3]  # (h, w) or (h, w, 3)
    small = Image.fromarray(np.ascontiguousarray(pixels))
    if max(small.size) < TINY:
        return _address(small, "png", optimize=True)
    small.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    return _address(small, "jpeg", quality=QUALITY, optimize=True)


def _address(image: Any, kind: str, **how: Any) -> str:
    file = io.BytesIO()
    image.save(file, kind, **how)
    return f"data:image/{kind};base64," + base64.b64encode(file.getvalue()).decode("ascii")
