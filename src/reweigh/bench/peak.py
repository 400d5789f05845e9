"""One cell in a process of its own: its peak memory over plain training, and its dω.

The peak of resident memory never falls within a process, so each cell gets a fresh one
(`python -m reweigh.bench.peak MODEL B SYSTEM`). The base is the peak after two plain steps of the
same student, so that the figure is what a teacher update asks for *beyond* plain training.
"""

import json
import os
import subprocess
import sys
from functools import cache
from typing import TypedDict

import torch
import torch.nn.functional as F

from reweigh.bench.clock import one_thread
from reweigh.bench.lineup import SYSTEMS
from reweigh.bench.resident import peak_mb
from reweigh.bench.subjects import Subject
from reweigh.metagrad.preflight import SavedBytes

_ALLOCATION = {"MALLOC_MMAP_THRESHOLD_": "65536"}
"""Tensors of 64 kB and more go back to the system when freed (glibc), so that the peak is theirs."""


class Cell(TypedDict):
    """What the process found: memory in MB, dω as numbers; or the error it ended with."""

    peak_mb: float | None
    gradient: list[float]
    failure: str | None


def in_fresh_process(model: str, through: int, system: str) -> Cell:
    """Measure a cell; an error inside, or the system's killer of processes, becomes `failure`."""
    command = [sys.executable, "-m", "reweigh.bench.peak", model, str(through), system]
    done = subprocess.run(  # noqa: S603 (our own module)
        command, capture_output=True, text=True, check=False, env=os.environ | _ALLOCATION
    )
    if done.returncode == 0:
        return json.loads(done.stdout)
    said = done.stderr.strip().splitlines() or [f"ended with code {done.returncode}"]
    return Cell(peak_mb=None, gradient=[], failure=f"failed: {said[-1]}")


def measure_cell(model: str, through: int, system: str) -> Cell:
    """Two plain steps for the base, then one cycle."""
    subject = Subject(model)
    batches = [subject.batch(number) for number in range(through)]
    trusted = subject.trusted()
    one = SYSTEMS[system](subject, through)
    one.plain_steps([trusted, trusted])
    base = peak_mb()
    found = one.cycle(batches, trusted)
    gradient = [value for d in found for value in d.detach().flatten().tolist()]
    return Cell(peak_mb=round(peak_mb() - base, 1), gradient=gradient, failure=None)


def expected_bytes(model: str, through: int, system: str) -> int:
    """A forecast: the graphs of B steps (or of one) and of the trusted loss."""
    return graph_bytes(model) * (1 + (through if SYSTEMS[system].keeps_graphs else 1))


@cache
def graph_bytes(model: str) -> int:
    """What one step holds whose gradient can be differentiated again, found by making one."""
    subject = Subject(model)
    student = subject.student()
    x, y = subject.batch(0)
    with SavedBytes() as saved:
        loss = F.cross_entropy(student(x)[0], y)
        graph = torch.autograd.grad(loss, list(student.parameters()), create_graph=True)
        del graph
    return saved.total


if __name__ == "__main__":
    with one_thread():
        print(json.dumps(measure_cell(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
