"""The extra cost of a teacher update, in plain SGD steps, and its memory, system by system.

extra = (time of B steps and an update − B · plain step) / plain step, medians of process CPU time,
all systems and plain steps taking turns in one process. First every cell runs once in a process of
its own, for its memory and its dω, which must agree.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypedDict

import torch
from rich.table import Table

from reweigh.bench.clock import cpu_seconds, one_thread
from reweigh.bench.lineup import SYSTEMS, obstacle
from reweigh.bench.peak import Cell, expected_bytes, in_fresh_process
from reweigh.bench.subjects import Subject
from reweigh.bench.systems import System, plain_step
from reweigh.metagrad.memory import free_bytes

SHARE_OF_MEMORY = 0.6
AGREEMENT = 1e-2
"""How far dω may be off in float32, for B ≤ 5; beyond, rounding grows by itself."""

Say = Callable[[str], None]


class Row(TypedDict):
    """One cell. `off` is |dω − reference| / |reference|; `note` says why a number is missing."""

    model: str
    through: int
    system: str
    extra_steps: float | None
    peak_mb: float | None
    off: float | None
    note: str


def measure(
    models: Sequence[str], throughs: Sequence[int], systems: Sequence[str], rounds: int, say: Say
) -> Iterator[Row]:
    """Rows model by model, as they are found."""
    for model in models:
        Subject(model).student()  # an unknown name is refused before anything is measured
    with one_thread():
        for model in models:
            for through in throughs:
                for row in _measure_group(model, through, systems, rounds, say):
                    say(_told(row))
                    yield row


def _measure_group(
    model: str, through: int, systems: Sequence[str], rounds: int, say: Say
) -> list[Row]:
    """All systems on one model at one B."""
    cells: dict[str, Cell] = {}
    for system in systems:
        say(f"{model}, B={through}, {system}: memory and dω")
        cells[system] = _cell(model, through, system)
    sound = [system for system in systems if cells[system]["failure"] is None]
    offs = _disagreement({system: cells[system]["gradient"] for system in sound})
    extras = _extra_steps(model, through, sound, rounds, say)
    return [
        Row(
            model=model,
            through=through,
            system=system,
            extra_steps=extras.get(system),
            peak_mb=cells[system]["peak_mb"],
            off=offs.get(system),
            note=cells[system]["failure"] or _agreement(offs.get(system), through),
        )
        for system in systems
    ]


def _cell(model: str, through: int, system: str) -> Cell:
    """Measured in a process of its own, unless it cannot run here."""
    reason = obstacle(system) or _too_large(model, through, system)
    if reason is not None:
        return Cell(peak_mb=None, gradient=[], failure=reason)
    return in_fresh_process(model, through, system)


def _too_large(model: str, through: int, system: str) -> str | None:
    need, room = expected_bytes(model, through, system), free_bytes(torch.device("cpu"))
    if need <= SHARE_OF_MEMORY * room:
        return None
    allowed = SHARE_OF_MEMORY * room / 2**30
    return f"skipped: needs about {need / 2**30:.1f} GB, more than 60 % of what is free ({allowed:.1f} GB)"


def _disagreement(gradients: dict[str, list[float]]) -> dict[str, float]:
    """How far each dω is from unrolled autograd's, or, without it, from the first one's."""
    if not gradients:
        return {}
    reference = torch.tensor(gradients.get("unrolled") or next(iter(gradients.values())))
    found = {system: torch.tensor(values) for system, values in gradients.items()}
    return {s: float((d - reference).norm() / reference.norm()) for s, d in found.items()}


def _agreement(off: float | None, through: int) -> str:
    return "dω disagrees" if off is not None and through <= 5 and not off < AGREEMENT else ""


@dataclass
class _Timed:
    """A system and the durations of its cycles."""

    system: System
    seconds: list[float]


def _extra_steps(
    model: str, through: int, systems: Sequence[str], rounds: int, say: Say
) -> dict[str, float]:
    """Rounds in which every system has its turn, a plain step before each."""
    subject = Subject(model)
    batches = [subject.batch(number) for number in range(through)]
    trusted = subject.trusted()
    student = subject.student()
    optimizer = subject.optimizer(student)
    runs = {name: _Timed(SYSTEMS[name](subject, through), []) for name in systems}
    for name, run in runs.items():
        say(f"{model}, B={through}, {name}: warming up")
        plain_step(student, optimizer, batches[0])
        run.system.cycle(
            batches, trusted
        )  # whole: the first to keep B graphs makes the heap grow for all
    plain: list[float] = []
    rounds = _rounds(rounds, through)
    for number in range(rounds):
        say(f"{model}, B={through}: round {number + 1} of {rounds}")
        for run in runs.values():
            plain.append(cpu_seconds(lambda: plain_step(student, optimizer, batches[0])))
            run.seconds.append(cpu_seconds(lambda s=run.system: s.cycle(batches, trusted)))
    return {name: median(run.seconds) / median(plain) - through for name, run in runs.items()}


def _rounds(rounds: int, through: int) -> int:
    """A cycle of more than five steps averages by itself, so it is repeated less often."""
    return math.ceil(rounds * 5 / max(5, through))


def _told(row: Row) -> str:
    """A row in one line, for those who watch a long run."""
    cell = f"{row['model']}, B={row['through']}, {row['system']}"
    if row["extra_steps"] is None:
        return f"{cell}: {row['note']}"
    return f"{cell}: {row['extra_steps']:.2f} extra steps, {row['peak_mb']:.0f} MB {row['note']}"


def table(rows: Sequence[Row]) -> Table:
    """The rows for people."""
    grid = Table("model", "B", "system", "extra steps", "peak over base", "dω off by", "", box=None)
    for row in rows:
        grid.add_row(
            row["model"],
            str(row["through"]),
            row["system"],
            "" if row["extra_steps"] is None else f"{row['extra_steps']:.2f}",
            "" if row["peak_mb"] is None else f"{row['peak_mb']:.0f} MB",
            "" if row["off"] is None else f"{row['off']:.0e}",
            row["note"],
        )
    return grid
