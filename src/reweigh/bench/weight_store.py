"""The cost of storing sample weights as the number of samples grows.

Each size runs in a fresh process, because the peak of resident memory never falls within one. The
growth counts the mapped pages of the files too, though the system could take them back.
"""

import multiprocessing
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypedDict

from rich.table import Table

from reweigh.bench.resident import peak_mb

BATCH = 128
EPOCHS = 2


class Row(TypedDict):
    """One size: the growth of peak memory, and the time of a step's `put` of 128 weights."""

    samples: int
    growth_mb: float
    put_us: float
    begin_ms: float
    end_ms: float


def measure(sizes: Sequence[int] = (10**5, 10**6, 10**7)) -> list[Row]:
    """One row per number of samples."""
    rows = []
    for size in sizes:
        fresh = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(max_workers=1, mp_context=fresh) as process:
            rows.append(process.submit(measure_one, size).result())
    return rows


def measure_one(size: int) -> Row:
    """Two whole epochs in scattered batches of 128."""
    import torch

    from reweigh.training.weight_store import WeightStore

    torch.set_num_threads(1)
    seconds: dict[str, float] = defaultdict(float)
    weights = torch.rand(BATCH)  # (n,)
    stride = _coprime_stride(size)
    with tempfile.TemporaryDirectory() as folder:
        store = WeightStore(Path(folder), size)
        before = peak_mb()
        for epoch in range(EPOCHS):
            with _Timed(seconds, "begin"):
                store.begin(epoch)
            for start in range(0, size, BATCH):
                places = torch.arange(start, min(start + BATCH, size))
                ids = places * stride % size  # (n,) every sample once, far apart, without a table
                with _Timed(seconds, "put"):
                    store.put(ids, weights[: len(ids)])
            with _Timed(seconds, "end"):
                store.end()
        growth = peak_mb() - before
    steps = EPOCHS * -(-size // BATCH)
    return Row(
        samples=size,
        growth_mb=round(growth, 1),
        put_us=round(seconds["put"] / steps * 1e6, 2),
        begin_ms=round(seconds["begin"] / EPOCHS * 1e3, 1),
        end_ms=round(seconds["end"] / EPOCHS * 1e3, 1),
    )


def table(rows: Sequence[Row]) -> Table:
    """The rows for people."""
    grid = Table("samples", "peak growth", "put of 128", "begin", "end", box=None)
    for row in rows:
        grid.add_row(
            f"{row['samples']:,}",
            f"{row['growth_mb']} MB",
            f"{row['put_us']} µs",
            f"{row['begin_ms']} ms",
            f"{row['end_ms']} ms",
        )
    return grid


class _Timed:
    """Adds the time of its block to a sum."""

    def __init__(self, sums: dict[str, float], name: str) -> None:
        self._sums, self._name = sums, name

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._sums[self._name] += time.perf_counter() - self._start


def _coprime_stride(size: int) -> int:
    """A prime far above one batch that shares no factor with `size`."""
    return next(p for p in (7919, 104_729, 611_953) if size % p)
