"""A dry run: everything is built, two steps are taken, nothing is written."""

import time
from dataclasses import dataclass
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from reweigh.config import Settings
from reweigh.methods import method_for
from reweigh.own_code import place_told
from reweigh.training import run
from reweigh.training.loop import Loop
from reweigh.training.short_runs import of_length
from reweigh.training.start import starting_point
from reweigh.training.workshop import Workshop


@dataclass(frozen=True)
class Rehearsal:
    """What a dry run found."""

    method: str
    samples: dict[str, int]
    cautions: tuple[str, ...]
    parameters: int
    steps: int
    seconds_per_step: float
    device: str

    @property
    def seconds(self) -> float:
        """Of all steps, updates of the teacher and evaluations not counted."""
        return self.steps * self.seconds_per_step

    def table(self) -> Table:
        """For people."""
        table = Table(title=escape(f"dry run: {self.method}"), show_header=False)
        table.add_row("samples", ", ".join(f"{n} {name}" for name, n in self.samples.items()))
        table.add_row("student", f"{self.parameters:,} parameters on {self.device}")
        for word in self.cautions:
            table.add_row("caution", escape(word))
        table.add_row(
            "steps", f"{self.steps} of {self.seconds_per_step:.3f} s: {self.seconds:.0f} s"
        )
        return table


def rehearse(config: Settings) -> Rehearsal:
    """Build everything and take two steps, of which the second is timed."""
    with place_told(config):
        return _rehearsed(config)


def _rehearsed(config: Settings) -> Rehearsal:
    run.set_up_torch(config)
    start = starting_point(config, Path())
    problem = run.prepared(config)
    shop = Workshop(config, problem, method_for(config.method), start)
    loop = Loop(shop)
    shop.student.train()
    loop.step(0)
    began = time.perf_counter()
    loop.step(1 % shop.steps)
    seconds = time.perf_counter() - began
    return Rehearsal(
        method=config.method.name,
        samples=shop.task.counts(),
        cautions=(*problem.cautions, *of_length(shop)),
        parameters=sum(p.numel() for p in shop.student.parameters()),
        steps=shop.steps,
        seconds_per_step=seconds,
        device=str(shop.device),
    )
