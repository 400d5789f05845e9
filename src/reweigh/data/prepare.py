"""From a description of the data to a problem to learn.

Load, split off test and trusted set, limit, long tail, the user's own labels, noise, what is dropped: in
this order, so that each random choice is the same whatever the later steps are.
"""

from dataclasses import asdict, dataclass
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np

from reweigh import signals
from reweigh.data.cautions import cautions
from reweigh.data.checks import check_left
from reweigh.data.corrections import corrected, in_doubt
from reweigh.data.ids import Listed, read_ids
from reweigh.data.labels import read_labels
from reweigh.data.long_tail import long_tail
from reweigh.data.noise import parse_noise, plant, transition
from reweigh.data.overlap import drop_copies, refuse_copies
from reweigh.data.samples import Labels, Problem, Samples, Source
from reweigh.data.seeds import generator
from reweigh.data.sources import load
from reweigh.data.splits import per_class, proportional
from reweigh.data.test_set import with_listed_test
from reweigh.data.trusted import read_trusted, split_trusted, with_trusted_in_train
from reweigh.errors import DataError, UsageError


@dataclass(frozen=True, kw_only=True)
class DataSpec:
    """Which data, and what to do with it."""

    data: str
    """A data set's name, a folder of images, or an `.npz`, `.csv` or `.parquet` file."""
    data_dir: Path | None = None
    """Where the files of named data sets are; else `REWEIGH_DATA`, else the cache folder."""
    label_column: str = "label"
    """Of a table."""
    ignore: tuple[str, ...] = ()
    """Columns of a table that are no features."""
    image_size: int | None = None
    """Height and width that images of a folder or listing are resized to."""
    labels: Path | None = None
    """A file of labels that replace the data's own (see `labels` and `corrections`)."""
    true_labels: Literal["unknown", "original"] = "unknown"
    """`original`: where `labels` is given, the labels it replaces are the right ones."""
    drop: Path | None = None
    """A file of ids of training samples that are left out."""
    trusted: Path | None = None
    """A file with the trusted set (see `trusted`)."""
    trusted_per_class: int | None = None
    """How many trusted samples per class to split off the training set."""
    noise: str = "none"
    """`none`, `uniform:RATE`, `flip:RATE` or `matrix:FILE`."""
    imbalance: float = 1.0
    """Largest class over smallest class; above 1 the training set gets a long tail."""
    train_limit: int | None = None
    """At most so many training samples, in the proportions of the classes."""
    test_limit: int | None = None
    """At most so many test samples, in the proportions of the classes."""
    seed: int = 0
    """Of every random choice but the test set, which is the same for all seeds."""
    id_column: str | None = None
    """Of a table: the column that names its rows; None: one called id."""
    test: Path | None = None
    """A file of the samples to test on, with right labels, in place of a fifth (see `test_set`)."""

    def __post_init__(self) -> None:
        parse_noise(self.noise)
        for name, limit in (("train_limit", self.train_limit), ("test_limit", self.test_limit)):
            if limit is not None and limit < 1:
                raise UsageError(f"{name} is {limit}; expected at least 1.")
        if self.seed < 0:
            raise UsageError(f"The seed is {self.seed}; expected a whole number from 0.")
        if self.true_labels == "original" and self.labels is None:
            raise UsageError("true_labels is 'original' but no labels file is given; add `labels`.")


def prepare(spec: DataSpec) -> Problem:
    """The problem that `spec` describes; equal specs give equal problems, bit for bit."""
    _check_files(spec)
    source = load(
        spec.data, spec.data_dir, spec.label_column, spec.image_size, spec.ignore, spec.id_column
    )
    signals.check()
    who = read_trusted(source, spec.trusted, spec.trusted_per_class, spec.label_column)
    listed = who if isinstance(who, Listed) else None
    if spec.test is not None:
        source = with_listed_test(source, spec.test, listed, spec.label_column)
    if listed is not None:
        source = with_trusted_in_train(source, listed)
    clear = _clear_of_test(source)
    rest, trusted = split_trusted(source, clear, who, spec.seed)
    check_left(rest, trusted, source)
    signals.check()
    new = None if spec.labels is None else read_labels(spec.labels, source)
    test, unused = _limited_test(source, spec), ()
    if new is not None and new.named and spec.true_labels == "unknown":
        doubt = in_doubt(spec.data, source.split)
        test, unused = corrected(new, test, rest, trusted, test_in_doubt=doubt)
    original = _reduced(rest, source, spec)
    given = original if new is None else new.put_on(original)
    noisy, truth, planted = _noisy(given, original, source, spec)
    dropped = None if spec.drop is None else read_ids(spec.drop, source)
    train, true_labels = (noisy, truth) if dropped is None else _without(dropped, noisy, truth)
    copies = clear.take(~np.isin(clear.ids, np.concatenate([rest.ids, trusted.ids])))  # of trusted
    record = {
        **_contents(source, train, trusted, test),
        **_choices(spec),
        "copies_of_test_dropped": len(source.train) - len(clear),
        "copies_of_trusted_dropped": len(copies),
        "noise": planted,
        "checked": _checked(clear, trusted, listed, spec),
    }
    files = [file.remarks for file in (source, new, listed, dropped) if file is not None]
    words = cautions(
        spec.data, source, trusted, planted=spec.noise != "none",
        trusted_given=bool(source.trusted or spec.trusted or spec.trusted_per_class),
        copies=copies, remarks=[*chain(*files)],
    )  # fmt: skip
    return Problem(
        train, trusted, test, source.class_names, source.kind, true_labels, record, (*words, *unused),
        source.encoding, source.readings,
    )  # fmt: skip


def _checked(
    clear: Samples, trusted: Samples, listed: Listed | None, spec: DataSpec
) -> dict[str, int] | None:
    """How many labels somebody checked, and how many of them the data has wrong; None: nobody knows."""
    labelled = listed is not None and listed.labels is not None
    if not labelled or spec.labels is not None or spec.noise != "none":
        return None
    given = dict(zip(clear.ids.tolist(), clear.labels.tolist(), strict=True))
    wrong = sum(
        given[i] != y for i, y in zip(trusted.ids.tolist(), trusted.labels.tolist(), strict=True)
    )
    return {"samples": len(trusted), "wrong": wrong}


def _files(spec: DataSpec) -> dict[str, Path]:
    """What is said of samples beside the data, by the name of its setting."""
    named = {name: getattr(spec, name) for name in ("labels", "trusted", "test", "drop")}
    return {name: path for name, path in named.items() if path is not None}


def _check_files(spec: DataSpec) -> None:
    """Told before gigabytes are read."""
    for name, path in _files(spec).items():
        if not path.is_file():
            raise UsageError(
                f"data.{name} is {str(path)!r}, and there is no such file in {Path.cwd()}."
            )


def _clear_of_test(source: Source) -> Samples:
    """The training set, sharing no input with the test set."""
    if source.split == "given":
        refuse_copies(source.train, source.test, "train", "test")
        return source.train
    return drop_copies(source.train, source.test)


def _limited_test(source: Source, spec: DataSpec) -> Samples:
    """The same test subset for every seed, so that results of seeds can be compared."""
    test = source.test
    if spec.test_limit is None or spec.test_limit >= len(test):
        return test
    counts = proportional(test.labels, len(source.class_names), spec.test_limit)
    return test.take(per_class(test.labels, counts, generator(0, "test limit")))


def _reduced(train: Samples, source: Source, spec: DataSpec) -> Samples:
    """What the limit and the long tail leave of the training set."""
    num_classes = len(source.class_names)
    if spec.train_limit is not None and spec.train_limit < len(train):
        counts = proportional(train.labels, num_classes, spec.train_limit)
        train = train.take(per_class(train.labels, counts, generator(spec.seed, "train limit")))
    if spec.imbalance != 1:
        train = train.take(long_tail(train.labels, num_classes, spec.imbalance, spec.seed))
    return train


def _noisy(
    given: Samples, original: Samples, source: Source, spec: DataSpec
) -> tuple[Samples, Labels | None, dict[str, Any]]:
    """The training set with planted noise, its true labels as far as known, and the record."""
    declared = original.labels if spec.true_labels == "original" else None
    noise = parse_noise(spec.noise)
    if noise.kind == "none":
        return given, declared, {"spec": spec.noise}
    C = transition(noise, len(source.class_names), spec.seed)
    train = given.with_labels(plant(given, C, spec.seed))
    changed = float((train.labels != given.labels).mean())
    record = {"spec": spec.noise, "changed": changed, "matrix": C.tolist()}
    return train, given.labels if declared is None else declared, record


def _without(
    dropped: Listed, train: Samples, truth: Labels | None
) -> tuple[Samples, Labels | None]:
    """What is left of the training set and of its true labels without the samples to drop."""
    kept = ~np.isin(train.ids, dropped.ids)  # (n,)
    if not kept.any():
        raise DataError(f"{dropped.file} drops all {len(train)} training samples; keep some.")
    return train.take(kept), None if truth is None else truth[kept]


def _contents(source: Source, train: Samples, trusted: Samples, test: Samples) -> dict[str, Any]:
    """What is in the problem, and a fingerprint that changes with any of it."""
    parts = {"train": train, "trusted": trusted, "test": test}
    fingerprint = blake2b(digest_size=16)
    for samples in parts.values():
        for array in (samples.content_hashes(), samples.labels, samples.ids):
            fingerprint.update(array.tobytes())
    K = len(source.class_names)
    return {
        "kind": source.kind,
        "split": source.split,
        "trusted_in_data": source.trusted is not None,
        "counts": {part: len(samples) for part, samples in parts.items()},
        "per_class": {p: np.bincount(s.labels, minlength=K).tolist() for p, s in parts.items()},
        "fingerprint": fingerprint.hexdigest(),
    }


def _choices(spec: DataSpec) -> dict[str, Any]:
    """The specification itself, ready for JSON; the noise has its own entry."""
    choices = {**asdict(spec)}
    del choices["noise"]
    return {k: str(v) if isinstance(v, Path) else v for k, v in choices.items()}
