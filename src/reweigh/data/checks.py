"""Is what a reader found fit to learn from? One clear sentence where it is not."""

import numpy as np

from reweigh.data.samples import Samples, Source
from reweigh.errors import DataError


def check(source: Source) -> None:
    """Raise a `DataError` for data that cannot be learned from."""
    _check_classes(source)
    parts = {"train": source.train, "test": source.test, "trusted": source.trusted}
    for part, samples in parts.items():
        if samples is not None:
            check_samples(samples, part, source)


def check_samples(samples: Samples, part: str, source: Source) -> None:
    """Raise a `DataError` unless `samples` can stand beside the other samples of `source`."""
    if len(samples) == 0:
        if part == "test" and source.split == "ours":
            _refuse_no_test(source)
        raise DataError(f"The {part} set is empty; at least one sample is needed.")
    expected, found = source.train.inputs.shape[1:], samples.inputs.shape[1:]
    if found != expected:
        raise DataError(
            f"A {part} sample has shape {found} but a train sample {expected}; they must be equal."
        )
    _check_labels(samples, part, len(source.class_names))
    _check_finite(samples, part)


def _refuse_no_test(source: Source) -> None:
    """Nothing could be held out: labels that are no classes, or samples that are all one."""
    different = len(np.unique(source.train.content_hashes()))
    raise DataError(
        f"No class has two different samples, so that none can be held out for testing: the "
        f"{len(source.train)} samples have {len(source.class_names)} labels and {different} different "
        "inputs; are the labels classes, and do the samples differ?"
    )


def check_left(train: Samples, trusted: Samples, source: Source) -> None:
    """Raise a `DataError` unless trusted samples and copies leave enough to train and to test on."""
    if not len(train) and len(trusted) == len(source.train):
        raise DataError("Every sample is trusted; none is left to train on: trust fewer of them.")
    if not len(source.test):
        raise DataError(
            "Every sample that was held out for testing is trusted: trust fewer of them, or name the "
            "samples to test on (data.test)."
        )
    class_names = source.class_names
    counts = np.bincount(train.labels, minlength=len(class_names))
    if not counts.all():
        c = int(counts.argmin())
        sure = int((trusted.labels == c).sum())
        raise DataError(
            f"Class {class_names[c]!r} has no training sample left beside its {sure} trusted ones and "
            "the copies of trusted and test samples, which are left out: trust fewer of them, or "
            "leave the class out."
        )


def _check_labels(samples: Samples, part: str, num_classes: int) -> None:
    wrong = np.flatnonzero((samples.labels < 0) | (samples.labels >= num_classes))
    if len(wrong):
        raise DataError(
            f"{part} sample {samples.called()[wrong[0]]} has label {samples.labels[wrong[0]]}, outside "
            f"0..{num_classes - 1}; correct the label or name all the classes."
        )


def _check_finite(samples: Samples, part: str) -> None:
    if samples.inputs.dtype == np.uint8:
        return
    wrong = np.flatnonzero(~np.isfinite(samples.inputs).all(axis=1))
    if len(wrong):
        raise DataError(
            f"{part} sample {samples.called()[wrong[0]]} holds a value that is not finite ({len(wrong)} "
            f"such samples); fill the gaps or drop these rows."
        )


def _check_classes(source: Source) -> None:
    if len(source.class_names) < 2:
        raise DataError(
            f"The data has {len(source.class_names)} class(es); at least two are needed."
        )
    _check_labels(source.train, "train", len(source.class_names))
    counts = np.bincount(source.train.labels, minlength=len(source.class_names))
    if not counts.all():
        c = int(counts.argmin())
        raise DataError(
            f"Class {c} ({source.class_names[c]!r}) has no training sample, and labels run to "
            f"{len(counts) - 1}; correct the label, drop the class or number them from 0 without gaps."
        )
