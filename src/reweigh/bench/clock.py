"""Process CPU time on one thread: what other programs do on the machine hardly shows in it."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import torch

B = TypeVar("B")


def cpu_seconds(work: Callable[[], object]) -> float:
    """The CPU time that this process spends on `work`."""
    start = time.process_time()
    work()
    return time.process_time() - start


def in_turns(
    ways: Mapping[str, Callable[[B], object]], batches: Iterable[B]
) -> dict[str, list[float]]:
    """The seconds of every way's step on each batch; the ways take turns."""
    took: dict[str, list[float]] = {way: [] for way in ways}
    for batch in batches:
        for way, step in ways.items():
            took[way].append(cpu_seconds(lambda s=step, b=batch: s(b)))
    return took


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, torch computes on one thread."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
