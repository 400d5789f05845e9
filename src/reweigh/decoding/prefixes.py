"""The beginnings of translations that a search is at, and what the model says comes next.

k beginnings of each of n sentences. `CachedPrefixes` projects the encoder's states once and each
word once; `RecomputedPrefixes` runs the decoder over whole beginnings for every word: the reference
that the other is measured and tested against.
"""

from typing import Protocol

import torch
from torch import Tensor

from reweigh.models.attention import Past
from reweigh.models.transformer import Transformer


class Prefixes(Protocol):
    """What a search needs of a model."""

    def advance(self, words: Tensor) -> Tensor:
        """Append a word to each beginning, (n, k), and score each next one: logits (n, k, V)."""
        ...

    def select(self, rows: Tensor, parents: Tensor) -> None:
        """Go on with sentences `rows` (m,) only, with their beginnings `parents` (m, k')."""
        ...


class CachedPrefixes:
    """Remembers keys and values of all words so far."""

    def __init__(self, model: Transformer, source: Tensor) -> None:
        self.model = model
        self.memory = model.encode(source)
        self.past = [Past() for _ in model.decoder]
        self.beams = 1

    def advance(self, words: Tensor) -> Tensor:
        """One word through the decoder."""
        self.beams = words.shape[1]
        states = self.model.decode(words.reshape(-1, 1), self.memory, self.past)  # (n·k, 1, d)
        return self.model.logits(states[:, 0]).unflatten(0, words.shape)

    def select(self, rows: Tensor, parents: Tensor) -> None:
        """Reorder what is remembered; the memory of sentences that stay is not touched."""
        chosen = (rows[:, None] * self.beams + parents).flatten()  # (m·k',)
        for layer in self.past:
            layer.select(chosen)
        if len(rows) < len(self.memory.states):
            self.memory = self.memory.select(rows)


class RecomputedPrefixes:
    """Remembers only words; the encoder still runs once."""

    def __init__(self, model: Transformer, source: Tensor) -> None:
        self.model = model
        self.memory = model.encode(source)
        self.words = source.new_empty(len(source), 1, 0)  # (n, k, t)

    def advance(self, words: Tensor) -> Tensor:
        """The whole beginnings through the decoder."""
        self.words = torch.cat([self.words, words[..., None]], 2)
        states = self.model.decode(self.words.flatten(0, 1), self.memory)  # (n·k, t, d)
        return self.model.logits(states[:, -1]).unflatten(0, words.shape)

    def select(self, rows: Tensor, parents: Tensor) -> None:
        """Keep the words of some."""
        self.words = self.words[rows[:, None], parents]
        self.memory = self.memory.select(rows)
