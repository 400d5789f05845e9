"""The test set that a file of ids gives, with right labels, in place of one that we hold out.

Its copies leave the training set, as those of a test set of ours do (see `overlap`). Columns of a table
become numbers anew, for other rows are training rows now.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from reweigh.data.checked import checked_among, read_checked
from reweigh.data.ids import Listed
from reweigh.data.readers.tables import encoded
from reweigh.data.samples import Samples, Source, joined
from reweigh.errors import DataError, UsageError


def with_listed_test(
    source: Source, path: Path, trusted: Listed | None, label_column: str = "label"
) -> Source:
    """The source with the samples of a file as its test set; `trusted` must not name them, too."""
    if source.split != "ours":
        raise UsageError(
            f"data.test is {str(path)!r}, but the data says itself which samples test (a column split, a "
            "folder test/, x_test or an official test set): leave out one of the two."
        )
    whole = joined(source.train, source.test)
    listed = read_checked(path, source, label_column)
    test = checked_among(whole, listed, source, "a trusted sample; it can be one of both")
    if trusted is not None:
        _refuse_shared(test.take(np.isin(test.ids, trusted.ids)), path, trusted.file)
    rest = whole.take(np.argsort(whole.ids))
    train = rest.take(~np.isin(rest.ids, test.ids))
    if not len(train):
        raise DataError(f"{path} names every sample; none is left to train on.")
    remarks = (*source.remarks, *listed.remarks)
    parts = replace(source, train=train, test=test, split="listed", remarks=remarks)
    return parts if source.encoding is None else encoded(parts, source.encoding.features)


def _refuse_shared(shared: Samples, path: Path, trusted: Path) -> None:
    if len(shared):
        raise DataError(
            f"{path} and {trusted} both name {str(shared.called()[0])!r} ({len(shared)} such samples); "
            "what is learned from cannot test: keep each in one of the two."
        )
