"""Process CPU time on one thread: what other programs do on the machine hardly shows in it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch


def cpu_seconds(work: Callable[[], object]) -> float:
    """The CPU time that this process spends on `work`."""
    start = time.process_time()
    work()
    return time.process_time() - start


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, torch computes on one thread."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
