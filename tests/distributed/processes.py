"""Runs functions in several gloo processes at once; each says what came out, or how it failed."""

import multiprocessing
import traceback
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist


def run_in_processes(world: int, checks: Sequence[str], folder: Path) -> list[dict[str, Any]]:
    """What each check gave, by process; a string is the traceback of a check that failed."""
    # a server that has imported torch once, and forks: importing takes longer than all checks
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.distributed.left_out"])
    arguments = [(rank, world, list(checks), str(folder)) for rank in range(world)]
    started = [context.Process(target=_work, args=each) for each in arguments]
    for process in started:
        process.start()
    for process in started:
        process.join(120)
        if process.is_alive():
            process.kill()
    files = [folder / f"{rank}.pt" for rank in range(world)]
    return [torch.load(file) if file.exists() else {} for file in files]


def _work(rank: int, world: int, names: list[str], folder: str) -> None:
    from tests.distributed.checks import CHECKS
    from tests.distributed.left_out import LEFT_OUT, without

    torch.set_num_threads(1)
    store = dist.FileStore(f"{folder}/store", world)
    dist.init_process_group(
        "gloo", store=store, rank=rank, world_size=world, timeout=timedelta(seconds=40)
    )
    found: dict[str, Any] = {}
    for name in names:
        try:
            found[name] = without(name) if name in LEFT_OUT else CHECKS[name]()
        except Exception:  # noqa: BLE001 (told to the test, which fails)
            found[name] = traceback.format_exc()
        torch.save(found, f"{folder}/{rank}.pt")
    dist.destroy_process_group()
