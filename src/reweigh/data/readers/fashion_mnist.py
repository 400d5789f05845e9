"""Fashion-MNIST (Xiao et al. 2017) from its four official idx files."""

import gzip
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.data.places import find
from reweigh.data.samples import Samples, Source, numbered
from reweigh.errors import DataError

_CLASSES = (
    "t-shirt", "trouser", "pullover", "dress", "coat",
    "sandal", "shirt", "sneaker", "bag", "ankle boot",
)  # fmt: skip
_DEBIAN = Path("/usr/share/datasets/fashion-mnist")  # package dataset-fashion-mnist
_LARGEST = 200 * 2**20  # bytes, unpacked; the official largest has 47 MB


def read(data_dir: Path | None = None) -> Source:
    """60,000 train and 10,000 test images, 28x28 grey."""
    first = find("fashion-mnist", ["train-images-idx3-ubyte.gz"], data_dir, _DEBIAN)
    return Source(
        train=_read_part(first.parent, "train"),
        test=_read_part(first.parent, "t10k"),
        class_names=_CLASSES,
        kind="image",
        split="official",
    )


def _read_part(folder: Path, part: str) -> Samples:
    images = read_idx(folder / f"{part}-images-idx3-ubyte.gz", dimensions=3)  # (n, h, w)
    labels = read_idx(folder / f"{part}-labels-idx1-ubyte.gz", dimensions=1)  # (n,)
    if len(images) != len(labels):
        raise DataError(
            f"{folder}: {len(images)} {part} images but {len(labels)} labels; fetch both again."
        )
    return numbered(images[..., None], labels.astype(np.int64))


def read_idx(path: Path, dimensions: int) -> NDArray[Any]:
    """The array in a gzipped idx file of unsigned bytes.

    An idx file is `0 0 type rank`, one big-endian 32-bit size per dimension, then the values.
    """
    try:
        with gzip.open(path, "rb") as stream:
            data = stream.read(_LARGEST)
    except (OSError, EOFError, zlib.error) as problem:
        raise DataError(f"{path} cannot be read ({problem}); fetch it again.") from None
    start = 4 + 4 * dimensions
    if len(data) < start or data[:4] != bytes([0, 0, 8, dimensions]):
        raise DataError(f"{path} is not an idx file of {dimensions}-d bytes; fetch it again.")
    shape = tuple(np.frombuffer(data[4:start], dtype=">u4").tolist())
    values = np.frombuffer(data, dtype=np.uint8, offset=start)
    if len(values) != np.prod(shape, dtype=object):
        raise DataError(
            f"{path} says shape {shape} but holds {len(values)} values; fetch it again."
        )
    return values.reshape(shape)
