"""A translation problem: pairs in doubt, trusted pairs, pairs to score on."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.text.codec import Codec
from reweigh.text.corpus import Corpus, HeldOut, joined
from reweigh.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class TranslationProblem:
    """What a training run gets; no pair is in two of its parts."""

    train: Corpus
    trusted: HeldOut
    valid: HeldOut
    """What is left of a validation set, for choices of one's own: nothing here looks at it."""
    tests: dict[str, HeldOut]
    codec: Codec
    changed: NDArray[np.bool_] | None  # (n,)
    """Which training pairs planted noise has changed; None without planted noise."""
    clean: Corpus | None
    """The training pairs before noise was planted."""
    record: dict[str, Any]
    """What was done, with seeds and counts; ready for JSON."""
    cautions: tuple[str, ...] = ()
    """What to know before believing a figure."""
    mixed_in: int = 0
    """How many training pairs are trusted ones: the last so many."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The joint dictionary."""
        return self.codec.vocabulary

    def trusted_alone(self) -> "TranslationProblem":
        """The trusted pairs in place of the training pairs."""
        n = len(self.trusted)
        return replace(self, train=self.trusted, changed=None, clean=None, mixed_in=n)

    def with_trusted(self, copies: int = 1) -> "TranslationProblem":
        """Training pairs, then the trusted ones `copies` times, as training pairs."""
        more = self.trusted.take(np.tile(np.arange(len(self.trusted)), copies))
        changed, clean = self.changed, self.clean
        if changed is not None:
            changed = np.concatenate([changed, np.zeros(len(more), dtype=np.bool_)])
        return replace(
            self,
            train=joined(self.train, more),
            changed=changed,
            clean=None if clean is None else joined(clean, more),
            mixed_in=len(more),
        )

    def put_right(self) -> "TranslationProblem | None":
        """The training pairs without planted noise; None where none was planted."""
        if self.clean is None:
            return None
        return replace(self, train=self.clean, changed=None, clean=None)
