"""Copies between train, trusted and test: dropped where the split is not the user's, else refused.

Collections hold exact copies of their own samples. Where the data set's authors or we drew the
line, a copy across it is nobody's mistake and its cure is known: it leaves the *training* set, and
the record counts it. Where the user gave the sets apart, a copy means that they were not cut as
the user believes; every number measured on them would be too good, so it is an error, even one.

Copies are equal byte for byte: CIFAR-10 and Fashion-MNIST have none between train and test. Near
copies, which CIFAR does have (Barz and Denzler 2020), are not looked for.
"""

import numpy as np

from reweigh.data.samples import Samples
from reweigh.errors import DataError


def drop_copies(train: Samples, other: Samples) -> Samples:
    """`train` without the samples whose input also occurs in `other`."""
    copies = np.isin(train.content_hashes(), other.content_hashes())
    return train.take(~copies) if copies.any() else train


def refuse_copies(first: Samples, second: Samples, first_name: str, second_name: str) -> None:
    """Raise a `DataError` if any input of `first` also occurs in `second`."""
    shared = np.isin(first.content_hashes(), second.content_hashes())
    if not shared.any():
        return
    ids = ", ".join(str(i) for i in first.called()[shared][:5])
    raise DataError(
        f"{shared.sum()} of {len(first)} {first_name} samples also occur in the {second_name} set "
        f"(first {first_name} ids: {ids}); remove them from one of the two."
    )
