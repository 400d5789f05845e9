"""How much faster beam search is with cached keys and values.

Against two ways without: the whole model again for every word, as a loop around `model(batch)`
does, and only its decoder again, the source encoded and projected once and only the last word
scored. All search alike. Random models hardly ever end by themselves, so that every translation is
as long as its source.
"""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import TypedDict

import torch
from rich.table import Table
from torch import Tensor

from reweigh.bench.clock import cpu_seconds, one_thread
from reweigh.bench.translation import sentence_pairs, transformer
from reweigh.decoding.beam import Beam, search
from reweigh.decoding.prefixes import CachedPrefixes, RecomputedPrefixes
from reweigh.models.transformer import Transformer

SENTENCES = 8
HOW = Beam(longest=(1.0, 1))


class WholeModelPrefixes(RecomputedPrefixes):
    """Nothing is remembered but words."""

    def __init__(self, model: Transformer, source: Tensor) -> None:
        super().__init__(model, source)
        self.source = source

    def advance(self, words: Tensor) -> Tensor:
        """The whole pairs through the whole model."""
        self.words = torch.cat([self.words, words[..., None]], 2)
        source = self.source.repeat_interleave(words.shape[1], 0)  # (n·k, s)
        logits = self.model({"source": source, "target_in": self.words.flatten(0, 1)})
        return logits[:, -1].unflatten(0, words.shape)

    def select(self, rows: Tensor, parents: Tensor) -> None:
        """Keep the words and sources of some."""
        super().select(rows, parents)
        self.source = self.source[rows]


WAYS = (CachedPrefixes, WholeModelPrefixes, RecomputedPrefixes)


class Row(TypedDict):
    """One model at one length of sentence."""

    model: str
    words: int
    sentences_per_second: float
    times_whole_model: float
    times_decoder: float


def measure(models: Sequence[str], words: Sequence[int], rounds: int) -> Iterator[Row]:
    """One row per model and length: medians of CPU seconds, all ways in turns."""
    with one_thread(), torch.no_grad():
        for model in models:
            student = transformer(model, dropout=0.0).eval()
            for length in words:
                source = sentence_pairs(0, pairs=SENTENCES, words=length)["source"]
                yield _row(model, student, source, rounds)


def _row(model: str, student: Transformer, source: Tensor, rounds: int) -> Row:
    limits = HOW.limits(source)
    seconds: dict[type, list[float]] = {way: [] for way in WAYS}
    search(CachedPrefixes(student, source), limits, HOW)  # warms up
    for _ in range(rounds):
        for way, took in seconds.items():
            took.append(cpu_seconds(lambda w=way: search(w(student, source), limits, HOW)))
    cached, whole, decoder = (median(took) for took in seconds.values())
    return Row(
        model=model, words=source.shape[1],
        sentences_per_second=len(source) / cached,
        times_whole_model=whole / cached, times_decoder=decoder / cached,
    )  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    """The rows for people."""
    grid = Table("model", "words", "sentences/s", "whole model again", "decoder again", box=None)
    for row in rows:
        rate = f"{row['sentences_per_second']:.1f}"
        slower = f"{row['times_whole_model']:.1f} × slower", f"{row['times_decoder']:.1f} × slower"
        grid.add_row(row["model"], str(row["words"]), rate, *slower)
    return grid
