"""Labels of a file that name test or trusted samples: which are used, and what is said of the others.

Nobody could know which rows we would hold out when correcting some: their new labels are better than
labels in doubt. A test set that was given keeps its own, and so does the trusted set.
"""

from collections.abc import Iterator

import numpy as np

from reweigh.data.catalogue import names
from reweigh.data.labels import NewLabels
from reweigh.data.samples import Samples, Split


def in_doubt(data: str, split: Split) -> bool:
    """Whether the test samples were split off labels that nobody vouches for."""
    return split == "ours" and data not in names()


def corrected(
    new: NewLabels, test: Samples, train: Samples, trusted: Samples, *, test_in_doubt: bool
) -> tuple[Samples, tuple[str, ...]]:
    """The test set, under its new labels where its own are in doubt, and what was not used."""
    words = tuple(_unlike_trusted(new, train, trusted, test))
    if test_in_doubt:
        return new.put_on(test), words
    return test, (*_of_test(new, train, test), *words)


def _of_test(new: NewLabels, train: Samples, test: Samples) -> Iterator[str]:
    named = np.isin(new.ids, test.ids) & ~np.isin(new.ids, train.ids)  # parts read apart share ids
    if named.any():
        yield f"{named.sum():,} of {_all(new)} name test samples and were not used"


def _unlike_trusted(
    new: NewLabels, train: Samples, trusted: Samples, test: Samples
) -> Iterator[str]:
    apart = np.isin(trusted.ids, train.ids) | np.isin(trusted.ids, test.ids)
    other = ~apart & (new.put_on(trusted).labels != trusted.labels)  # (t,)
    if other.any():
        some = ", ".join(map(str, trusted.called()[other][:5])) + (" …" if other.sum() > 5 else "")
        yield (
            f"{other.sum():,} of {_all(new)} differ from those of trusted samples, which stand: {some}"
        )


def _all(new: NewLabels) -> str:
    return f"{len(new.ids):,} labels of {new.file}"
