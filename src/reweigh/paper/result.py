"""The paper's table with our numbers beside the published ones."""

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table

from reweigh.paper.cell import PAPER, Cell, Recipe, Scale
from reweigh.paper.plan import Named, Place, runs_of
from reweigh.paper.scales import CAPTIONS
from reweigh.training.comparison import spread
from reweigh.training.measures import BLEU, ERROR
from reweigh.training.result import RESULT
from reweigh.training.run_folder import read_status

Found = dict[str, Any]
HEADER = ("setting", "row", "published", "ours, last", "ours, best by trusted", "seeds", "cost", "")
MEASURES = {"error": ERROR, "BLEU": BLEU}


@dataclass(frozen=True)
class Line:
    """One cell of the paper's table, measured."""

    column: str
    row: str
    published: float | None
    source: str
    last: tuple[float, ...]
    """One value a seed, in the unit of the published ones."""
    best: tuple[float, ...]
    cost: float | None
    """Processor time of training over that of plain training in the same column."""
    why: str
    """Why something is missing."""

    def shown(self) -> tuple[str, ...]:
        """As text, in the order of HEADER."""
        mark = "" if self.source == PAPER else " *"
        published = "" if self.published is None else f"{self.published:.2f}{mark}"
        cost = "" if self.cost is None else f"{self.cost:.2f}"
        seeds = str(len(self.last)) if self.last else ""
        values = (published, spread(self.last), spread(self.best), seeds, cost, self.why)
        return (self.column, self.row, *values)


@dataclass(frozen=True)
class Result:
    """A table of one recipe at one scale."""

    recipe: Recipe
    scale: Scale
    lines: list[Line]
    failures: Mapping[str, str]

    @property
    def caption(self) -> str:
        """What the reader must know of the numbers."""
        sources = {line.source for line in self.lines if line.source != PAPER}
        stars = "".join(f" * {source}." for source in sorted(sources))
        unit = "Test error in percent" if self.recipe.measure == "error" else "BLEU"
        return f"{unit}, scale {self.scale}. {CAPTIONS[self.scale]}{stars}"

    def outcome(self) -> dict[str, Any]:
        """For programs."""
        lines = [asdict(line) for line in self.lines]
        return {
            "recipe": self.recipe.name,
            "scale": self.scale,
            "measure": self.recipe.measure,
            "lines": lines,
            "failures": dict(self.failures),
        }

    def table(self) -> Table:
        """For a terminal: one section a column of the paper."""
        title = f"{self.recipe.place}: {self.recipe.title}"
        table = Table(title=title, caption=self.caption)
        for name in HEADER[1:]:
            table.add_column(name, justify="left" if name in ("row", "") else "right")
        before = None
        for line in self.lines:
            column, *rest = line.shown()
            if column != before:
                table.add_section()
                table.add_row(f"[bold]{column}[/bold]")
            table.add_row(*rest)
            before = column
        return table

    def markdown(self) -> str:
        """For a page."""
        rule = tuple("---" if name in ("setting", "row", "") else "---:" for name in HEADER)
        lines = [HEADER, rule, *(line.shown() for line in self.lines)]
        text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"{text}\n\n{self.caption}"

    def latex(self) -> str:
        """For a paper, with booktabs."""
        head = [r"\begin{tabular}{llrrrrrl}", r"\toprule", _latex_row(HEADER), r"\midrule"]
        body = [_latex_row(line.shown()) for line in self.lines]
        foot = [r"\bottomrule", r"\end{tabular}", f"% {self.caption}"]
        return "\n".join([*head, *body, *foot])


def read_result(
    recipe: Recipe,
    scale: Scale,
    cells: Sequence[Cell],
    place: Place,
    seeds: int,
    failures: Mapping[str, str],
) -> Result:
    """The table of what is finished in a folder, whoever finished it."""
    plain = {c.length: _seconds(c, seeds, place) for c in cells if c.plain}
    lines = [
        _line(recipe, cell, place, seeds, plain.get(cell.length, {}), failures) for cell in cells
    ]
    return Result(recipe, scale, lines, failures)


def _line(
    recipe: Recipe,
    cell: Cell,
    place: Place,
    seeds: int,
    plain: dict[int, float],
    failures: Mapping[str, str],
) -> Line:
    measure = MEASURES[recipe.measure]
    chosen: list[Found] = []
    for seed in range(seeds):
        found = _finished(cell, seed, place)
        if found:
            chosen.append(min(found, key=lambda one: one[measure.trusted]))
    ratios = [s / plain[k] for k, s in _seconds(cell, seeds, place).items() if k in plain]
    return Line(
        cell.column,
        cell.row,
        cell.published.value if cell.published else None,
        cell.published.source if cell.published else PAPER,
        tuple(measure.scale * one[measure.last] for one in chosen),
        tuple(measure.scale * one[measure.best] for one in chosen),
        statistics.median(ratios) if ratios else None,
        _why(cell, len(chosen), seeds, place, failures),
    )


def _why(cell: Cell, found: int, seeds: int, place: Place, failures: Mapping[str, str]) -> str:
    """What is missing, and why."""
    names = {f"{n}, seed {s.seed}" for k in range(seeds) for n, s in runs_of(cell, k, place)}
    failed = [why for name, why in failures.items() if name in names]
    missing = "" if found == seeds or not cell.settings else "not run"
    return "; ".join(text for text in (cell.why, *dict.fromkeys(failed or [missing])) if text)


def _finished(cell: Cell, seed: int, place: Place) -> list[Found]:
    """Results of all runs of one seed, or nothing: a search is over when its last run is."""
    runs = runs_of(cell, seed, place)
    found = [result for run in runs if (result := _read(place, run)) is not None]
    return found if len(found) == len(runs) else []


def _read(place: Place, run: Named) -> Found | None:
    home = place.home(*run)
    done = read_status(home) == "done" and (home / RESULT).is_file()
    return json.loads((home / RESULT).read_text()) if done else None


def _seconds(cell: Cell, seeds: int, place: Place) -> dict[int, float]:
    """Processor time by seed, of all runs that a cell rests on."""
    found = {seed: _finished(cell, seed, place) for seed in range(seeds)}
    return {seed: sum(one["train_seconds"] for one in all_) for seed, all_ in found.items() if all_}


_LATEX = {"%": r"\%", "_": r"\_", "&": r"\&", "#": r"\#", "±": r"$\pm$", "θ": r"$\theta$"} | {
    "∂": r"$\partial$", "≠": r"$\neq$", "γ": r"$\gamma$", "*": r"$^*$",
}  # fmt: skip


def _latex_row(values: Sequence[str]) -> str:
    escaped = ["".join(_LATEX.get(c, c) for c in value) for value in values]
    return " & ".join(escaped) + r" \\"
