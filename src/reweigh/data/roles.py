"""The columns of a table that say which part a row belongs to: `split` and `trusted`."""

import numpy as np
from numpy.typing import NDArray

from reweigh.data.columns import Columns
from reweigh.data.repeats import rows_again
from reweigh.data.samples import Kind, Samples, Source
from reweigh.data.splits import hold_out_test
from reweigh.errors import DataError

ROLES = ("split", "trusted")
_TRUE, _FALSE = {"true", "1", "1.0", "yes"}, {"false", "0", "0.0", "no", "nan", ""}


def parts_of(
    columns: Columns, whole: Samples, class_names: tuple[str, ...], kind: Kind, key: str | None
) -> Source:
    """Train, test and trusted samples, as the columns `split` and `trusted` say.

    Rows that repeat another one, with the id that the column `key` has, are left out.
    """
    trusted = _flags(columns, len(whole))  # (n,)
    if "split" in columns.names:
        test = _test_rows(columns)
    else:
        test = np.zeros(len(whole), dtype=bool)
        rest = whole.take(~trusted)
        test[rest.ids] = hold_out_test(rest.labels, rest.content_hashes())
    if (test & trusted).any():
        row = int(np.flatnonzero(test & trusted)[0]) + 1
        raise DataError(f"{columns.origin}: data row {row} is both test and trusted; choose one.")
    if (test | trusted).all():
        raise DataError(f"{columns.origin} has no training row; every row is test or trusted.")
    again = np.zeros(len(whole), dtype=bool) if key is None else rows_again(columns, key)
    return Source(
        train=whole.take(~test & ~trusted & ~again),
        test=whole.take(test & ~again),
        class_names=class_names,
        kind=kind,
        split="given" if "split" in columns.names else "ours",
        trusted=whole.take(trusted & ~again) if trusted.any() else None,
        table=columns,
        id_column=key,
        repeats=int(again.sum()),
    )


def _test_rows(columns: Columns) -> NDArray[np.bool_]:
    texts = columns.texts("split")
    wrong = set(np.unique(texts).tolist()) - {"train", "test"}
    if wrong:
        raise DataError(
            f"{columns.origin}: split is {sorted(wrong)[0]!r}; expected 'train' or 'test'."
        )
    return texts == "test"


def _flags(columns: Columns, size: int) -> NDArray[np.bool_]:
    if "trusted" not in columns.names:
        return np.zeros(size, dtype=bool)
    texts = np.char.lower(columns.texts("trusted"))
    wrong = set(np.unique(texts).tolist()) - _TRUE - _FALSE
    if wrong:
        raise DataError(
            f"{columns.origin}: trusted is {sorted(wrong)[0]!r}; expected true or false."
        )
    return np.isin(texts, sorted(_TRUE))
