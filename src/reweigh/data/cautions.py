"""What somebody should know before believing a figure: labels that nobody vouches for."""

from collections.abc import Iterator, Sequence

import numpy as np

from reweigh.data.catalogue import names
from reweigh.data.classes import value_of
from reweigh.data.corrections import in_doubt
from reweigh.data.first_few import first_few
from reweigh.data.ignoring import ignoring
from reweigh.data.lookalikes import WAYS_OUT, likeness
from reweigh.data.samples import Samples, Source
from reweigh.data.typos import one_class_perhaps

MANY = 0.01
"""Share of the training samples that are worth a word when they are left out. Our choice."""
FEW = 5
"""Trusted samples of a class that are too few to be spoken of as a class. Our choice."""


def cautions(
    data: str,
    source: Source,
    trusted: Samples,
    *,
    trusted_given: bool,
    planted: bool,
    copies: Samples,
    remarks: Sequence[str],
) -> tuple[str, ...]:
    """Sentences, of which most data needs none.

    `copies` of trusted samples are not trained on; `remarks` say how files were read that are no plain CSV.
    """
    own = data not in names() and not planted
    return (
        *(_trusted_by_nobody(trusted) if own and not trusted_given else ()),
        *(_test_in_doubt() if not planted and in_doubt(data, source.split) else ()),
        *(_one_class_perhaps(source) if data not in names() else ()),
        *_thin_classes(trusted, source.class_names),
        *_left_out(copies, trusted, source),
        *_no_numbers(source),
        *_keys(source),
        *remarks,
        *_counted_once(source),
    )


def _trusted_by_nobody(trusted: Samples) -> Iterator[str]:
    yield (
        f"no trusted set was given, so {len(trusted)} samples with possibly wrong labels stand in for "
        "one; list checked ones with data.trusted"
    )


def _test_in_doubt() -> Iterator[str]:
    yield (
        "the test set was split off the given labels: where they are wrong, a right answer counts as "
        "a test error; give test samples with right labels (data.test) to know the error"
    )


def _left_out(copies: Samples, trusted: Samples, source: Source) -> Iterator[str]:
    """Rows that equal a trusted one; under another label one of the two must be wrong."""
    if not len(copies):
        return
    sure = dict(zip(trusted.content_hashes().tolist(), trusted.labels.tolist(), strict=True))
    answers = np.array([sure[h] for h in copies.content_hashes().tolist()], dtype=np.int64)
    wrong = copies.labels != answers
    if not wrong.any() and len(copies) <= MANY * len(source.train):
        return
    told = f"{len(copies):,} training samples equal a trusted one and were left out"
    if wrong.any():
        some = ", ".join(map(str, copies.called()[wrong][:5]))
        told += f"; {wrong.sum():,} of them have another label than it, so that one of the two is wrong: "
        told += some + (" …" if wrong.sum() > 5 else "")
    yield told


def _no_numbers(source: Source) -> Iterator[str]:
    """Columns of a table that look like numbers or dates and were not read as such."""
    for column in source.encoding.columns if source.encoding else ():
        full = [text for text in column.categories or () if text]
        odd = [text for text in full if value_of(text) is None]
        if odd and sum(likeness(text) is not None for text in full) > len(full) / 2:
            example = next(filter(likeness, odd), odd[0])
            kind = likeness(example)
            yield (
                f"column {column.name!r} is taken as {len(column.categories or ())} categories because of "
                f"texts such as {example!r}: where it is meant as a {kind or 'number'}, {WAYS_OUT[kind]}"
            )


def _keys(source: Source) -> Iterator[str]:
    """Columns of a table that tell rows apart and nothing else; one sentence for all."""
    keys = [reading.name for reading in source.readings if reading.key]
    if keys:
        ignored = [reading.name for reading in source.readings if reading.read_as == "ignored"]
        yield (
            f"every row has a whole number of its own in {first_few([*map(repr, keys)], 'columns')}: where "
            f"that is a key, which teaches nothing, leave it out ({ignoring([*ignored, *keys])})"
        )


def _one_class_perhaps(source: Source) -> Iterator[str]:
    parts = [source.train, source.test, *filter(None, [source.trusted])]
    labels = np.concatenate([part.labels for part in parts])
    counts = np.bincount(labels, minlength=len(source.class_names)).tolist()
    if found := list(one_class_perhaps(source.class_names, counts)):
        told = "; ".join(found[:5]) + (" …" if len(found) > 5 else "")
        yield f"classes {told}: where they are one class, write it in one way in the data"


def _counted_once(source: Source) -> Iterator[str]:
    if source.repeats:
        what = "row repeats" if source.repeats == 1 else "rows repeat"
        yield f"{source.repeats:,} {what} another one, {source.id_column} and all, and count once"


def _thin_classes(trusted: Samples, class_names: tuple[str, ...]) -> Iterator[str]:
    counts = np.bincount(trusted.labels, minlength=len(class_names))
    thin = [f"{counts[k]} of {class_names[k]!r}" for k in np.flatnonzero(counts < FEW)]
    if thin:
        none = (
            ""
            if counts.all()
            else "; the default method takes labels of a class without any to be right"
        )
        yield (
            f"the trusted set has only {first_few(thin, 'classes')}: it says little of these classes{none}"
        )
