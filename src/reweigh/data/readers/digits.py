"""scikit-learn's 1,797 handwritten digits."""

import numpy as np

from reweigh.data.samples import Source, numbered
from reweigh.data.splits import hold_out_test


def read() -> Source:
    """The digits as 8x8 grey images; a fifth of every class is the test set."""
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)  # (n, 64) in 0..16
    grey = np.round(np.asarray(pixels) * (255 / 16)).astype(np.uint8)
    return split_images(grey.reshape(-1, 8, 8, 1), np.asarray(labels, dtype=np.int64))


def split_images(images: np.ndarray, labels: np.ndarray) -> Source:
    """Ten digit classes without an official test set, split by us."""
    whole = numbered(images, labels)
    test = hold_out_test(labels, whole.content_hashes())
    return Source(
        train=whole.take(~test),
        test=whole.take(test),
        class_names=tuple(str(digit) for digit in range(10)),
        kind="image",
        split="ours",
    )
