"""What the loop itself costs: `Reweigher.step` against a hand-written loop, step by step in turns.

And what its batches cost: reading 128 images of 32×32, with crops and mirrors.
"""

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import TypedDict

import numpy as np
import torch
from rich.table import Table

from reweigh.bench.clock import cpu_seconds, in_turns, one_thread
from reweigh.bench.subjects import Labelled, Subject, per_sample_loss
from reweigh.bench.systems import plain_step
from reweigh.reweigher import Reweigher
from reweigh.training.images import Images, Normalisation

EVERY, THROUGH = 20, 2
POOL = 10_000
"""Images that batches are read from."""


class Row(TypedDict):
    """One way to train, and its cost in that of the plain loop."""

    model: str
    training: str
    times_plain: float


def measure(models: Sequence[str], rounds: int, *, bf16: bool = False) -> Iterator[Row]:
    """Rows per model: uniform weights, a teacher that learns at K=20, B=2, and reading the images.

    A round is K steps of each. Uniform steps are compared by the median over all steps, training
    with a teacher by the median over rounds, because its steps differ.
    """
    with one_thread():
        for model in models:
            yield _row(model, rounds, taught=False, bf16=bf16)
            yield _row(model, rounds, taught=True, bf16=bf16)
            if model != "transformer":
                yield _reading(model, rounds, bf16)


def _row(model: str, rounds: int, *, taught: bool, bf16: bool) -> Row:
    subject = Subject(model)
    batches = [subject.batch(number) for number in range(EVERY)]
    student = subject.student()
    optimizer = subject.optimizer(student)
    ours = _reweigher(subject, taught)
    loops = {
        "plain": _under(bf16, lambda b: plain_step(student, optimizer, b)),
        "ours": _under(bf16, lambda b: ours.step(*b)),
    }
    in_turns(loops, batches)  # warms up
    took = [in_turns(loops, batches) for _ in range(rounds)]
    if taught:
        ratio = median(sum(t["ours"]) for t in took) / median(sum(t["plain"]) for t in took)
        return Row(model=model, training=f"teacher, K={EVERY}, B={THROUGH}", times_plain=ratio)
    plain, uniform = (median(s for t in took for s in t[loop]) for loop in ("plain", "ours"))
    return Row(model=model, training="uniform weights", times_plain=uniform / plain)


def _reading(model: str, rounds: int, bf16: bool) -> Row:
    """Reading a batch and a plain step take turns."""
    subject = Subject(model)
    student = subject.student()
    optimizer, batch = subject.optimizer(student), subject.batch(0)
    images, draw = _images(), torch.Generator().manual_seed(0)
    step = _under(bf16, lambda b: plain_step(student, optimizer, b))
    read, plain = [], []
    for epoch in range(EVERY * rounds + 1):
        positions = torch.randperm(POOL, generator=draw)[: subject.batch_size]
        read.append(cpu_seconds(lambda p=positions, e=epoch: images.batch(p, e)))
        plain.append(cpu_seconds(lambda: step(batch)))
    ratio = median(read[1:]) / median(plain[1:])  # the first warms up
    return Row(model=model, training="reading and augmenting alone", times_plain=ratio)


def _images() -> Images:
    values = np.random.default_rng(0).integers(0, 256, (POOL, 32, 32, 3), dtype=np.uint8)
    return Images(values, Normalisation.of(values), augment="crop-flip")


def _reweigher(subject: Subject, taught: bool) -> Reweigher:
    student = subject.student()
    optimizer = subject.optimizer(student)
    if not taught:
        return Reweigher(student, optimizer, per_sample_loss=per_sample_loss)
    return Reweigher(
        student, optimizer, subject.teacher(student), trusted=subject.trusted(),
        per_sample_loss=per_sample_loss, every=EVERY, through=THROUGH,
    )  # fmt: skip


def _under(bf16: bool, step: Callable[[Labelled], object]) -> Callable[[Labelled], None]:
    """Autocast is entered anew for each step: it keeps 16-bit copies of θ for as long as it lasts."""

    def stepped(batch: Labelled) -> None:
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            step(batch)

    return stepped


def table(rows: Sequence[Row]) -> Table:
    """The rows for people."""
    grid = Table("model", "training", "cost", box=None)
    for row in rows:
        grid.add_row(row["model"], row["training"], f"{row['times_plain']:.3f} × plain")
    return grid
