"""Sentence pairs as numbers: two flat arrays with offsets, padded only as batches."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reweigh.student.batch import moved_to
from reweigh.text.vocabulary import BEGIN, END, PAD

Lengths: TypeAlias = NDArray[np.int64]  # (n,)


@dataclass(frozen=True)
class Ragged:
    """Rows of different lengths: row i is `flat[offsets[i]:offsets[i + 1]]`."""

    flat: NDArray[np.int32]  # (tokens,)
    offsets: NDArray[np.int64]  # (n + 1,)

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> "Ragged":
        """These rows, one behind the other."""
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return cls(np.fromiter((t for row in rows for t in row), np.int32, offsets[-1]), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, position: int) -> NDArray[np.int32]:
        return self.flat[self.offsets[position] : self.offsets[position + 1]]

    def lengths(self) -> Lengths:
        """Tokens of each row."""
        return np.diff(self.offsets)

    def take(self, positions: NDArray[Any]) -> "Ragged":
        """The rows at these positions (or where this mask is true), in that order."""
        chosen = np.arange(len(self))[positions]
        lengths = self.lengths()[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        return Ragged(self.flat[np.repeat(self.offsets[chosen], lengths) + within], offsets)

    def padded(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows side by side with one free place behind the longest, `<pad>` where nothing is."""
        rows = self.take(positions)
        lengths = rows.lengths()
        width = int(lengths.max(initial=0)) + 1
        out = np.full((len(rows), width), PAD, dtype=np.int64)  # (n, width)
        out[np.arange(width) < lengths[:, None]] = rows.flat
        return out


@dataclass(frozen=True)
class Corpus:
    """Pairs of sentences; `ids` are the lines they were read from and stay with them."""

    source: Ragged
    target: Ragged
    ids: NDArray[np.int64]  # (n,)

    def __post_init__(self) -> None:
        assert len(self.source) == len(self.target) == len(self.ids)

    def __len__(self) -> int:
        return len(self.ids)

    def lengths(self) -> tuple[Lengths, Lengths]:
        """Tokens of sources and of targets, each with its end mark: what a batch is padded to."""
        return self.source.lengths() + 1, self.target.lengths() + 1

    def take(self, positions: NDArray[Any]) -> "Corpus":
        """The pairs at these positions (or where this mask is true), in that order."""
        return Corpus(self.source.take(positions), self.target.take(positions), self.ids[positions])

    def batch(
        self, positions: Tensor | NDArray[Any], device: torch.device | str = "cpu"
    ) -> dict[str, Tensor]:
        """`source` (n, S) ends with `</s>`; `target_in` (n, T) begins with `<s>`, `target_out`
        (n, T) is the same one place on and ends with `</s>`; `<pad>` behind."""
        rows = np.asarray(positions, dtype=np.int64)
        every = np.arange(len(rows))
        source, target_out = self.source.padded(rows), self.target.padded(rows)
        target_in = np.roll(target_out, 1, axis=1)  # what falls off the end is padding
        target_in[:, 0] = BEGIN
        source[every, self.source.lengths()[rows]] = END
        target_out[every, self.target.lengths()[rows]] = END
        arrays = {"source": source, "target_in": target_in, "target_out": target_out}
        made = {name: torch.from_numpy(array) for name, array in arrays.items()}
        return moved_to(made, torch.device(device))


@dataclass(frozen=True)
class HeldOut(Corpus):
    """Pairs to translate and score, with the translations as text."""

    references: tuple[str, ...] = field(default=(), kw_only=True)
    """As they were read: what the detokenised score compares with."""
    tokenised: tuple[str, ...] = field(default=(), kw_only=True)
    """Words with one blank between, cased as the student sees them: for the tokenised score."""

    def take(self, positions: NDArray[Any]) -> "HeldOut":
        """The pairs at these positions (or where this mask is true), in that order."""
        chosen = np.arange(len(self))[positions]
        return HeldOut(
            self.source.take(chosen),
            self.target.take(chosen),
            self.ids[chosen],
            references=tuple(self.references[k] for k in chosen),
            tokenised=tuple(self.tokenised[k] for k in chosen),
        )


def joined(a: Corpus, b: Corpus) -> Corpus:
    """The pairs of both, in this order."""
    return Corpus(
        _joined(a.source, b.source), _joined(a.target, b.target), np.concatenate([a.ids, b.ids])
    )


def _joined(a: Ragged, b: Ragged) -> Ragged:
    offsets = np.concatenate([a.offsets, b.offsets[1:] + a.offsets[-1]])
    return Ragged(np.concatenate([a.flat, b.flat]), offsets)
