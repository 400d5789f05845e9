"""What more processes bring: one run in one process and in several, taking turns on this machine.

The same processes do both: in one round the first trains alone on the whole batch while the others
wait, in the next all train together on their parts. One thread each.
"""

import json
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import TypedDict

import torch
import torch.distributed as dist
from rich.table import Table
from torch import nn

from reweigh.bench.subjects import Subject, per_sample_loss
from reweigh.distributed import alone, traffic
from reweigh.distributed.gathering import own_part_of
from reweigh.errors import ReweighError
from reweigh.reweigher import Reweigher

EVERY, THROUGH = 20, 2


class Row(TypedDict):
    """One model in one and in several processes."""

    model: str
    processes: int
    seconds_alone: float
    """Of a step, by the clock on the wall."""
    seconds_together: float
    speedup: float
    cpu_speedup: float
    """By the processor time of the busiest process: what the speedup is when cores are free."""
    bytes_per_step: float
    times_gradient: float
    """Bytes in those of one gradient a step."""
    times_plain: float
    """Bytes in those of torch's DistributedDataParallel: the gradient, and the buffers."""


def measure(models: Sequence[str], processes: int, rounds: int) -> list[Row]:
    """One row per model: medians over rounds of K = 20 steps with one update through the last 2."""
    for model in models:
        Subject(model).student()  # a name that does not exist is told here, not in each process
    return [_row(model, processes, rounds) for model in models]


def _row(model: str, processes: int, rounds: int) -> Row:
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        jobs = [
            context.Process(target=_work, args=(rank, processes, model, rounds, folder))
            for rank in range(processes)
        ]
        for job in jobs:
            job.start()
        for job in jobs:
            job.join()
        if any(job.exitcode for job in jobs):
            raise ReweighError(f"A process of the measurement of {model} broke off; see above why.")
        return json.loads((Path(folder) / "row.json").read_text())


def _work(rank: int, world: int, model: str, rounds: int, folder: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder}/meeting",
        rank=rank,
        world_size=world,
        timeout=timedelta(hours=1),
    )
    subject = Subject(model)
    together = _cycle(subject, whole=False)
    with alone():
        by_itself = _cycle(subject, whole=True)
    spent: list[tuple[float, ...]] = []
    for number in range(rounds + 1):  # the first one warms up
        dist.barrier()
        ours = _timed(by_itself, mine=rank == 0)
        dist.barrier()
        before = traffic.bytes
        theirs = _timed(together, mine=True)
        busiest = torch.tensor(theirs[1])
        dist.all_reduce(busiest, dist.ReduceOp.MAX)
        if number:
            spent.append((*ours, theirs[0], float(busiest), traffic.bytes - before))
    if rank == 0:
        (Path(folder) / "row.json").write_text(json.dumps(_summary(subject, world, spent)))
    dist.destroy_process_group()


def _cycle(subject: Subject, *, whole: bool) -> Callable[[], None]:
    """K steps and one update, on whole batches or on this process's parts."""
    student = subject.student()
    trusted = subject.trusted()
    reweigher = Reweigher(
        student, subject.optimizer(student), subject.teacher(student),
        trusted=trusted if whole else own_part_of(trusted),
        per_sample_loss=per_sample_loss, every=EVERY, through=THROUGH,
    )  # fmt: skip
    batches = [subject.batch(number) for number in range(EVERY)]
    parts = batches if whole else [own_part_of(batch) for batch in batches]

    def run() -> None:
        with alone() if whole else nullcontext():
            for batch in parts:
                reweigher.step(*batch)

    return run


def _timed(work: Callable[[], None], *, mine: bool) -> tuple[float, float]:
    """Seconds of a step, on the wall and of this process."""
    wall, cpu = time.perf_counter(), time.process_time()
    if mine:
        work()
    return (time.perf_counter() - wall) / EVERY, (time.process_time() - cpu) / EVERY


def _summary(subject: Subject, world: int, spent: list[tuple[float, ...]]) -> Row:
    wall_alone, cpu_alone, wall, cpu, sent = (median(column) for column in zip(*spent, strict=True))
    gradient, buffers = _sizes(subject.student())
    per_step = sent / EVERY
    return Row(
        model=subject.name,
        processes=world,
        seconds_alone=wall_alone,
        seconds_together=wall,
        speedup=wall_alone / wall,
        cpu_speedup=cpu_alone / cpu,
        bytes_per_step=per_step,
        times_gradient=per_step / gradient,
        times_plain=per_step / (gradient + buffers),
    )


def _sizes(student: nn.Module) -> tuple[int, int]:
    """Bytes of the gradient and of the buffers."""
    return sum(p.nbytes for p in student.parameters()), sum(b.nbytes for b in student.buffers())


def table(rows: Sequence[Row]) -> Table:
    """The rows for people."""
    grid = Table(
        "model", "processes", "s/step alone", "together", "speedup", "by CPU time", "MB/step",
        "× gradient", "× DDP", box=None,
    )  # fmt: skip
    for row in rows:
        grid.add_row(
            row["model"],
            str(row["processes"]),
            f"{row['seconds_alone']:.3f}",
            f"{row['seconds_together']:.3f}",
            f"{row['speedup']:.2f}",
            f"{row['cpu_speedup']:.2f}",
            f"{row['bytes_per_step'] / 1e6:.2f}",
            f"{row['times_gradient']:.4f}",
            f"{row['times_plain']:.4f}",
        )
    return grid
