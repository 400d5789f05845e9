"""Whole runs in processes that were started as torchrun starts them."""

import multiprocessing
import os
import signal
import socket
from pathlib import Path
from typing import Any

import torch

from reweigh.config import RunConfig
from reweigh.errors import ReweighError
from reweigh.training.progress import SilentProgress


def settings(**training: Any) -> RunConfig:
    return RunConfig.model_validate(
        {
            "threads": 1,
            "data": {"name": "digits", "noise": "flip:0.4", "train_limit": 210},
            "student": {"model": "mlp"},
            "training": {"epochs": 3, "batch_size": 42, "lr": 0.1, "optimizer": "sgd"} | training,
            "method": {
                **{"name": "deep", "every": 4, "through": 2, "trusted_batch": 30},
                "average": 0.9,  # by itself not on data as small as these
            },
        }
    )


class SignalAt(SilentProgress):
    """Sends this process a SIGTERM when a step is done."""

    def __init__(self, step: int) -> None:
        self.left = step

    def advance(self, steps: int = 1, **figures: float) -> None:
        self.left -= steps
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGTERM)


def run_story(folder: Path, world: int = 2) -> None:
    """In `world` processes: a run in one piece, and one that the last process's signal stops, and
    that goes on.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.distributed.runs", "tests.distributed.checks"])
    ports = [_free_port() for _ in range(3)]
    jobs = [context.Process(target=_story, args=(r, world, ports, folder)) for r in range(world)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join(200)
        if job.is_alive():
            job.kill()


def _story(rank: int, world: int, ports: list[int], folder: Path) -> None:
    from reweigh.training.run import resume, train

    torch.set_num_threads(1)
    last = rank == world - 1
    quiet, stops = SilentProgress(), SignalAt(7) if last else SilentProgress()
    _told(rank, ports[0], world, folder, lambda: train(settings(), folder / "whole", quiet))
    _told(rank, ports[1], world, folder, lambda: train(settings(), folder / "stopped", stops))
    _told(rank, ports[2], world, folder, lambda: resume(folder / "stopped", quiet))


def _told(rank: int, port: int, world: int, folder: Path, work: Any) -> None:
    """Do it as a launched process would, and note how it ended."""
    launcher = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": world, "MASTER_PORT": port}
    os.environ |= {name: str(value) for name, value in launcher.items()}
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    try:
        work()
        end = "done"
    except ReweighError as error:
        end = f"{type(error).__name__}: {error}"
    with (folder / f"ends_{rank}.txt").open("a") as file:
        file.write(end + "\n")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
