"""Image files as one array of bytes, and which of them are unfit for it."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reweigh.data.first_few import first_few
from reweigh.errors import DataError

if TYPE_CHECKING:
    from PIL import Image


def read_images(paths: list[Path], image_size: int | None) -> NDArray[np.uint8]:
    """(n, h, w, c) of all; they are of one size, with one channel only if every image is grey."""
    images, unfit = _load_all(paths, image_size, None)
    refuse_unfit(unfit)
    size = next(iter(images.values())).shape[:2]
    for path, image in images.items():
        if image.shape[:2] != size:
            raise DataError(
                f"{path} has size {image.shape[:2]} but {paths[0]} has {size}; images must be of one "
                f"size: set image_size to resize them all."
            )
    channels = max(1 if image.ndim == 2 else 3 for image in images.values())
    return _stacked([images[path] for path in paths], (*size, channels))


def read_fit(
    paths: list[Path], image_size: int | None, shape: tuple[int, ...]
) -> tuple[NDArray[np.uint8], dict[Path, str]]:
    """(n, *shape) of those that fit, in their order, and why the others do not.

    `shape` is (h, w, c), what a student takes; at least one image fits.
    """
    images, unfit = _load_all(paths, image_size, shape)
    if not images:
        refuse_unfit(unfit)
    return _stacked([images[path] for path in paths if path in images], shape), unfit


def refuse_unfit(unfit: dict[Path, str]) -> None:
    """One sentence of all files, so that they can be seen to at once."""
    if unfit:
        told = first_few([f"{path} {why}" for path, why in unfit.items()], "images")
        raise DataError(f"{told}; repair or remove {'it' if len(unfit) == 1 else 'them'}.")


def _load_all(
    paths: list[Path], image_size: int | None, shape: tuple[int, ...] | None
) -> tuple[dict[Path, NDArray[np.uint8]], dict[Path, str]]:
    images: dict[Path, NDArray[np.uint8]] = {}
    unfit: dict[Path, str] = {}
    for path in paths:
        image = _load(path, image_size) if shape is None else _fitted(path, image_size, shape)
        if isinstance(image, str):
            unfit[path] = image
        else:
            images[path] = image
    return images, unfit


def _fitted(path: Path, image_size: int | None, shape: tuple[int, ...]) -> NDArray[np.uint8] | str:
    """One image of the size and channels of `shape`, or why there is none."""
    image = _load(path, image_size, shape[2])
    if isinstance(image, str) or image.shape[:2] == shape[:2]:
        return image
    return (
        f"has size {image.shape[:2]} and the student takes {shape[:2]} (resize it, or train with "
        "data.image_size, which resizes all)"
    )


def _load(
    path: Path, image_size: int | None, channels: int | None = None
) -> NDArray[np.uint8] | str:
    """One image: (h, w) if it is grey or shall be, else (h, w, 3); or why there is none."""
    try:
        from PIL import Image
    except ImportError:
        raise DataError(
            "Reading images needs Pillow, which is not installed; "
            "run `pip install 'reweigh[images]'`."
        ) from None
    try:
        with Image.open(path) as image:
            if image.mode.startswith(("I", "F")):  # Pillow clips to 8 bits: all but black is white
                return (
                    f"has more than 8 bits a pixel (Pillow's mode {image.mode}; convert it to 8, with the "
                    "range of brightness that matters)"
                )
            grey = channels == 1 or image.mode in {"1", "L"}
            plain = _on_white(image).convert("L" if grey else "RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as problem:
        return f"cannot be read as an image ({problem})"
    if image_size is not None:
        plain = plain.resize((image_size, image_size), Image.Resampling.BILINEAR)
    return np.asarray(plain)


def _on_white(image: "Image.Image") -> "Image.Image":
    """Transparent parts as people see them on a page: what colour they hide is no input."""
    from PIL import Image

    if image.mode not in {"RGBA", "LA", "PA"} and "transparency" not in image.info:
        return image
    drawn = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", drawn.size, "white"), drawn)


def _stacked(images: list[NDArray[np.uint8]], shape: tuple[int, ...]) -> NDArray[np.uint8]:
    return np.stack([np.broadcast_to(i[..., None] if i.ndim == 2 else i, shape) for i in images])
