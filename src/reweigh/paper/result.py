"""The paper's table with our numbers beside the published ones."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.markup import escape
from rich.table import Table

from reweigh.comparing.measures import BLEU, ERROR, spread
from reweigh.comparing.table_notes import ON_TRUSTED
from reweigh.comparing.written_tables import latex, markdown
from reweigh.paper.cell import PAPER, Cell, Recipe, Scale
from reweigh.paper.plan import Named, Place, runs_of
from reweigh.training.kept_result import kept_result
from reweigh.training.run_records import is_done

Found = dict[str, Any]
WORDS = ("setting", "row", "")
"""Heads of the columns that hold words."""
MEASURES = {"error": ERROR, "BLEU": BLEU}


@dataclass(frozen=True)
class Line:
    """One cell of the paper's table, measured."""

    cell: Cell
    last: tuple[float, ...]
    """One value a seed, in the unit of the published ones."""
    best: tuple[float, ...]
    cost: float | None
    """Processor time of training over that of plain training in the same column."""
    why: str
    """Why something is missing."""

    @property
    def source(self) -> str:
        """Where the published value stands."""
        return self.cell.published.source if self.cell.published else PAPER

    def shown(self) -> tuple[str, ...]:
        """As text, in the order of a result's header."""
        mark = "" if self.source == PAPER else " *"
        published = f"{self.cell.published.value:.2f}{mark}" if self.cell.published else ""
        cost = "" if self.cost is None else f"{self.cost:.2f}"
        seeds = str(len(self.last)) if self.last else ""
        values = (published, spread(self.last), spread(self.best), seeds, cost, self.why)
        return (self.cell.column, self.cell.row, *values)

    def outcome(self) -> dict[str, Any]:
        """For programs."""
        column, published_for = self.cell.columns
        return {
            "column": column,
            "row": self.cell.row,
            **self.cell.terms,
            "trained_on_trusted": self.cell.on_trusted,
            "published": self.cell.published.value if self.cell.published else None,
            "published_for": published_for,
            "source": self.source,
            "last": self.last,
            "best": self.best,
            "cost": self.cost,
            "why": self.why,
        }


@dataclass(frozen=True)
class Result:
    """A table of one recipe at one scale."""

    recipe: Recipe
    scale: Scale
    lines: list[Line]
    failures: Mapping[str, str]

    @property
    def title(self) -> str:
        """The table of the paper that this is, or is made after."""
        place, title = self.recipe.place, self.recipe.title
        return f"{place}: {title}" if self.scale == "full" else f"After {place} ({title})"

    @property
    def caption(self) -> str:
        """What the reader must know of the numbers."""
        sources = {line.source for line in self.lines if line.source != PAPER}
        stars = "".join(f" * {source}." for source in sorted(sources))
        unit = "Test error in percent" if self.recipe.measure == "error" else "BLEU"
        scale = f"scale {self.scale}. {self.recipe.captions[self.scale]}"
        return f"{unit}, {scale}{stars}{self._on_trusted()}"

    def _on_trusted(self) -> str:
        rows = dict.fromkeys(line.cell.row for line in self.lines if line.cell.on_trusted)
        return f" {ON_TRUSTED[0].upper()}{ON_TRUSTED[1:]}: {', '.join(rows)}." if rows else ""

    @property
    def header(self) -> tuple[str, ...]:
        """The heads of the columns."""
        published = "published" if self.scale == "full" else "published, at full scale"
        ours = ("ours, last", "ours, best by trusted")
        return ("setting", "row", published, *ours, "seeds", "cost", "")

    def outcome(self) -> dict[str, Any]:
        """For programs."""
        return {
            "recipe": self.recipe.name,
            "title": self.title,
            "caption": self.caption,
            "scale": self.scale,
            "measure": self.recipe.measure,
            "lines": [line.outcome() | {"scale": self.scale} for line in self.lines],
            "failures": dict(self.failures),
        }

    def table(self) -> Table:
        """For a terminal: one section a column of the paper."""
        table = Table(title=self.title, caption=self.caption)
        for name in self.header[1:]:
            table.add_column(name, justify="left" if name in ("row", "") else "right")
        before = None
        for line in self.lines:
            column, *rest = line.shown()
            if column != before:
                table.add_section()
                table.add_row(f"[bold]{escape(column)}[/bold]")
            table.add_row(*map(escape, rest))
            before = column
        return table

    def markdown(self) -> str:
        """For a page."""
        text = markdown(self.header, self._lines(), WORDS)
        return f"{self.title}\n\n{text}\n\n{self.caption}"

    def latex(self) -> str:
        """For a paper: a table that says what it is."""
        return latex(self.header, self._lines(), WORDS, f"{self.title}. {self.caption}")

    def _lines(self) -> list[tuple[str, ...]]:
        return [line.shown() for line in self.lines]


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
    plain: dict[tuple[int, str], float],
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
        cell,
        tuple(measure.scale * one[measure.last] for one in chosen),
        tuple(measure.scale * one[measure.best] for one in chosen),
        statistics.median(ratios) if ratios else None,
        _why(cell, len(chosen), seeds, place, failures),
    )


def _why(cell: Cell, found: int, seeds: int, place: Place, failures: Mapping[str, str]) -> str:
    """What is missing, and why."""
    names = {f"{n}, seed {s.seed}" for k in range(seeds) for n, s in runs_of(cell, k, place)}
    failed = [why for name, why in failures.items() if name in names]
    some = f"{seeds - found} of {seeds} seeds " if found else ""
    missing = "" if found == seeds or not cell.settings else f"{some}not run"
    return "; ".join(text for text in (cell.why, *dict.fromkeys(failed or [missing])) if text)


def _finished(cell: Cell, seed: int, place: Place) -> list[Found]:
    """Results of all runs of one seed, or nothing: a search is over when its last run is."""
    runs = runs_of(cell, seed, place)
    found = [result for run in runs if (result := _read(place, run)) is not None]
    return found if len(found) == len(runs) else []


def _read(place: Place, run: Named) -> Found | None:
    home = place.home(*run)
    return kept_result(home) if is_done(home) else None


def _seconds(cell: Cell, seeds: int, place: Place) -> dict[tuple[int, str], float]:
    """Processor time by seed and machine, of all runs that a cell rests on."""
    found = {seed: _finished(cell, seed, place) for seed in range(seeds)}
    return {
        (seed, all_[0].get("machine", "")): sum(one["train_seconds"] for one in all_)
        for seed, all_ in found.items()
        if all_
    }
