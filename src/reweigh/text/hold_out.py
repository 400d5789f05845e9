"""Which pairs are learned from, trusted, chosen by, and scored on.

Trusted pairs come from files of their own, else from the validation set, whose rest is held out for
choices of one's own (nothing here looks at it); where there is none they are cut off the training
text, and so is a test set where there is none. The test set does not depend on the seed. Length
filters see training text only: what is scored stays as it was published.
"""

from dataclasses import dataclass

import numpy as np

from reweigh import signals
from reweigh.data.seeds import generator
from reweigh.errors import DataError
from reweigh.text.codec import TextForm
from reweigh.text.parts import Part, of_plausible_length, without_copies
from reweigh.text.sources import Texts
from reweigh.text.spec import TextSpec
from reweigh.text.tokenise import refuse_tokenised

_MOST, _LARGEST_SHARE = 1000, 0.1


@dataclass(frozen=True)
class Split:
    """The parts; no pair is in two of them (two tests may share one)."""

    train: Part
    trusted: Part
    valid: Part
    tests: dict[str, Part]
    dropped: dict[str, int]
    """Training pairs left out, by reason."""


def split(texts: Texts, form: TextForm, spec: TextSpec, *, given: bool) -> Split:
    """Everything cut into words and put into its part; `given` by the user, or official."""
    if not form.tokenised:
        refuse_tokenised([*texts.train.source, *texts.train.target], "the training text")
    signals.check()
    read = Part.of(texts.train, form)
    signals.check()
    train = of_plausible_length(read, spec.max_length, spec.max_ratio)
    dropped = {"empty": texts.train.empty, "by_length": len(read) - len(train)}
    tests = {name: Part.of(pairs, form) for name, pairs in texts.tests.items()}
    if not tests:
        tests["test"], train = train.cut(_share_of(train), generator(0, "test split"))
    valid, train = _valid(texts, form, train, spec)
    tested = given and bool(texts.tests)  # what was cut off here, nobody else can mend
    for name, test in tests.items():
        valid = without_copies(valid, test, ("valid", name), tested and texts.valid is not None)
    trusted, valid = _trusted(texts, form, valid, spec)
    for name, test in tests.items():
        own = tested and texts.trusted is not None
        trusted = without_copies(trusted, test, ("trusted", name), own)
    valid = without_copies(valid, trusted, ("valid", "trusted"), given=False)
    before = len(train)
    for name, test in tests.items():
        train = without_copies(train, test, ("train", name), tested)
    for name, part in {
        "trusted": trusted,
        "valid": valid,
    }.items():  # checked pairs of this very text
        train = without_copies(train, part, ("train", name), given=False)
    dropped["copies_of_held_out"] = before - len(train)
    parts = Split(train, trusted, valid, tests, dropped)
    _check_left(parts)
    return parts


def _valid(texts: Texts, form: TextForm, train: Part, spec: TextSpec) -> tuple[Part, Part]:
    """Pairs of which the trusted ones will be a part, and what is left to train."""
    if texts.valid is not None:
        return Part.of(texts.valid, form), train
    if texts.valid_every is not None:
        chosen = np.arange(1, len(train) + 1) % texts.valid_every == 0
        return train.take(chosen), train.take(~chosen)
    number = 0 if texts.trusted is not None else spec.trusted or _share_of(train)
    return train.cut(number, generator(spec.seed, "valid split"))


def _trusted(texts: Texts, form: TextForm, valid: Part, spec: TextSpec) -> tuple[Part, Part]:
    """The trusted pairs, and what is left of a validation set."""
    if texts.trusted is not None:
        return Part.of(texts.trusted, form), valid
    validates = texts.valid is not None or texts.valid_every is not None
    number = spec.trusted or (min(_MOST, len(valid) // 2) if validates else len(valid))
    if not number:
        raise DataError(
            f"The validation set has {len(valid)} pair(s), of which half would be trusted: give more, or "
            "trusted pairs in files of their own."
        )
    if number > len(valid):
        raise DataError(
            f"{number:,} pairs cannot be trusted where there are {len(valid):,} to take them from: "
            "lower data.trusted."
        )
    return valid.cut(number, generator(spec.seed, "trusted split"))


def _share_of(train: Part) -> int:
    return max(1, min(_MOST, int(_LARGEST_SHARE * len(train))))


def _check_left(parts: Split) -> None:
    named = {"training": parts.train, "trusted": parts.trusted}
    for name, part in {**named, **parts.tests}.items():
        if not len(part):
            raise DataError(
                f"No {name} pair is left after length filters and copies between the parts "
                f"({parts.dropped}); loosen max_length and max_ratio, or give more text."
            )
