"""How much faster beam search is with cached keys and values.

Both ways search alike and encode the source once; without a cache the decoder runs over the whole
beginning for every word. Random models hardly ever end by themselves, so that every translation
is as long as its source.
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


class Row(TypedDict):
    """One model at one length of sentence."""

    model: str
    words: int
    sentences_per_second: float
    times_uncached: float


def measure(models: Sequence[str], words: Sequence[int], rounds: int) -> Iterator[Row]:
    """One row per model and length: medians of CPU seconds, both ways in turns."""
    with one_thread(), torch.no_grad():
        for model in models:
            student = transformer(model, dropout=0.0).eval()
            for length in words:
                source = sentence_pairs(0, pairs=SENTENCES, words=length)["source"]
                yield _row(model, student, source, rounds)


def _row(model: str, student: Transformer, source: Tensor, rounds: int) -> Row:
    limits = HOW.limits(source)
    seconds: dict[type, list[float]] = {CachedPrefixes: [], RecomputedPrefixes: []}
    search(CachedPrefixes(student, source), limits, HOW)  # warms up
    for _ in range(rounds):
        for way, took in seconds.items():
            took.append(cpu_seconds(lambda w=way: search(w(student, source), limits, HOW)))
    cached, whole = (median(took) for took in seconds.values())
    return Row(
        model=model, words=source.shape[1],
        sentences_per_second=len(source) / cached, times_uncached=whole / cached,
    )  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    """The rows for people."""
    grid = Table("model", "words", "sentences/s", "speed", box=None)
    for row in rows:
        rate, faster = (
            f"{row['sentences_per_second']:.1f}",
            f"{row['times_uncached']:.1f} × uncached",
        )
        grid.add_row(row["model"], str(row["words"]), rate, faster)
    return grid
