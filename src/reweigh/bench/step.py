"""What the loop itself costs: `Reweigher.step` against a hand-written loop, step by step in turns.

And what its batches cost: reading 128 images of 32×32, with crops and mirrors.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import median
from typing import TypedDict

import numpy as np
import torch
from rich.table import Table

from reweigh.bench.clock import cpu_seconds, in_turns, one_thread
from reweigh.bench.subjects import CLASSES, Labelled, Subject, logits, per_sample_loss
from reweigh.bench.systems import plain_step
from reweigh.config.methods import DeepConfig
from reweigh.reweigher import Reweigher
from reweigh.stepping.freed_memory import keep_freed_memory
from reweigh.teachers import PosteriorTeacher
from reweigh.training.images import Images, Normalisation

EVERY, THROUGH = 20, 2
"""K and B of the paper."""
OURS = DeepConfig()
UNIFORM, DEFAULT = "uniform weights", f"the default, K={OURS.every}, B={OURS.through}"
PAPER = f"teacher, K={EVERY}, B={THROUGH}"
POOL = 10_000
"""Images that batches are read from."""


class Row(TypedDict):
    """One way to train, and its cost in that of the plain loop."""

    model: str
    training: str
    times_plain: float


def measure(models: Sequence[str], rounds: int, *, bf16: bool = False) -> Iterator[Row]:
    """Rows per model: uniform weights, a teacher at the paper's K and B, the default one with its
    average, and reading the images.

    A round is 20 steps of each. Uniform steps are compared by the median over all steps, training
    with a teacher by the median over rounds, because its steps differ.
    """
    keep_freed_memory()  # as a run does
    with one_thread():
        for model in models:
            for training in (UNIFORM, PAPER, DEFAULT):
                yield _row(model, rounds, training, bf16)
            if model != "transformer":
                yield _reading(model, rounds, bf16)


def _row(model: str, rounds: int, training: str, bf16: bool) -> Row:
    subject = Subject(model)
    batches = [subject.batch(number) for number in range(EVERY)]
    student = subject.student()
    optimizer = subject.optimizer(student)
    ours = _reweigher(subject, training)
    loops = {
        "plain": _under(bf16, lambda b: plain_step(student, optimizer, b)),
        "ours": _under(bf16, lambda b: ours.step(*b)),
    }
    in_turns(loops, batches)  # warms up
    took = [in_turns(loops, batches) for _ in range(rounds)]
    if training == UNIFORM:
        plain, spent = (median(s for t in took for s in t[loop]) for loop in ("plain", "ours"))
    else:
        plain, spent = (median(sum(t[loop]) for t in took) for loop in ("plain", "ours"))
    return Row(model=model, training=training, times_plain=spent / plain)


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


def _reweigher(subject: Subject, training: str) -> Reweigher:
    student = subject.student()
    held = partial(Reweigher, student, subject.optimizer(student), per_sample_loss=per_sample_loss)
    if training == UNIFORM:
        return held()
    if training == DEFAULT:
        teacher = PosteriorTeacher(layer="fc", num_classes=CLASSES, logits=logits)
        trusted = tuple(part[: OURS.trusted_batch] for part in subject.trusted())
        return held(teacher, trusted=trusted, every=OURS.every, through=OURS.through)
    teacher = subject.teacher(student)
    return held(teacher, trusted=subject.trusted(), every=EVERY, through=THROUGH)


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
