"""Processes that a launcher (torchrun) has started become one group, and one group ends together."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.distributed.rendezvous import rendezvous

from reweigh.errors import LostProcess, UsageError

TIMEOUT = timedelta(seconds=120)
"""How long a process waits for the others; then it leaves, so that the launcher can start again."""


def launched() -> bool:
    """Whether a launcher started this process as one of several."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1 and "RANK" in os.environ


@contextmanager
def joined(device: str) -> Iterator[None]:
    """Inside, the launched processes are torch's default group; without a launcher, nothing.

    Messages on GPUs go by NCCL, all others by gloo. Each process takes the GPU of its local rank.
    """
    if not launched() or dist.is_initialized():
        yield
        return
    on_gpus = device != "cpu" and torch.cuda.is_available()
    if on_gpus:
        _take_gpu(device, int(os.environ.get("LOCAL_RANK", "0")))
    backend = "cpu:gloo,cuda:nccl" if on_gpus else "gloo"
    store, rank, world = next(rendezvous("env://", timeout=TIMEOUT))
    # the launcher's store outlives a restart, with the addresses of processes that are gone
    fresh = dist.PrefixStore(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"), store)  # pyright: ignore[reportPrivateImportUsage] (public by its documentation)
    dist.init_process_group(backend, store=fresh, rank=rank, world_size=world, timeout=TIMEOUT)
    try:
        with lost_told():
            yield
    finally:
        dist.destroy_process_group()


def _take_gpu(device: str, number: int) -> None:
    """The one of this process's number on its machine."""
    if ":" in device:
        raise UsageError(
            f"device = {device!r} would put all processes on one GPU: give auto or cuda, and each "
            "takes its own."
        )
    if number >= torch.cuda.device_count():
        raise UsageError(
            f"Process {number + 1} of this machine has no GPU of its own, of {torch.cuda.device_count()}: "
            "give torchrun fewer processes (--nproc-per-node), or device = cpu."
        )
    torch.cuda.set_device(number)


@contextmanager
def lost_told() -> Iterator[None]:
    """A message that cannot be delivered means that a process is gone: say so."""
    try:
        yield
    except RuntimeError as error:
        if not dist.is_initialized() or not _is_delivery(error):
            raise
        reason = str(error).partition("\n")[0][:120]
        raise LostProcess(
            f"Another process of this run is gone or does not answer ({reason}); the last checkpoint "
            "is intact: start again with --resume auto."
        ) from error


def _is_delivery(error: RuntimeError) -> bool:
    words = r"gloo|nccl|connection (closed|reset)|broken pipe|timed? ?out|socket"
    return isinstance(error, dist.DistError) or bool(re.search(words, str(error), re.IGNORECASE))
