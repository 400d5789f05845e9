"""What somebody should know before believing a figure: labels that nobody vouches for."""

from collections.abc import Iterator

import numpy as np

from reweigh.data.catalogue import names
from reweigh.data.samples import Samples, Source

FEW = 5
"""Trusted samples of a class that are too few to be spoken of as a class. Our choice."""


def cautions(
    data: str, source: Source, trusted: Samples, *, trusted_given: bool, planted: bool
) -> tuple[str, ...]:
    """Sentences, of which most data needs none."""
    own = data not in names() and not planted
    return (
        *(_trusted_by_nobody(trusted) if own and not trusted_given else ()),
        *(_test_in_doubt() if own and source.split == "ours" else ()),
        *_thin_classes(trusted, source.class_names),
    )


def _trusted_by_nobody(trusted: Samples) -> Iterator[str]:
    yield (
        f"no trusted set was given: {len(trusted)} samples were taken from the given labels, which "
        "may be wrong; name samples that somebody checked with data.trusted"
    )


def _test_in_doubt() -> Iterator[str]:
    yield (
        "the test set was split off the given labels: where they are wrong, a right answer counts as "
        "a test error; give test samples with right labels to know the error"
    )


def _thin_classes(trusted: Samples, class_names: tuple[str, ...]) -> Iterator[str]:
    counts = np.bincount(trusted.labels, minlength=len(class_names))
    thin = [f"{counts[k]} of {class_names[k]!r}" for k in np.flatnonzero(counts < FEW)]
    if thin:
        shown = ", ".join(thin[:5]) + (
            f" and {len(thin) - 5} more classes" if len(thin) > 5 else ""
        )
        yield f"the trusted set has only {shown}: it says little of these classes"
