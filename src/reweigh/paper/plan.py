"""From the cells of a table to runs with names, seeds and folders, in the order they need.

A run's folder is named by its settings, not by its cell, so that tables of one scale that have a run
in common do it once. Runs that begin from another come after it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reweigh.config import Settings, run_id
from reweigh.config.lineup import folder_name
from reweigh.paper.cell import Cell, Origin

Named = tuple[str, Settings]


@dataclass(frozen=True)
class Place:
    """Where and how the runs of a table are done; no part of what they come to."""

    folder: Path
    data_dir: str | None = None
    device: str | None = None
    threads: int | None = None

    def home(self, name: str, settings: Settings) -> Path:
        """The folder of one run, as a comparison names it."""
        return self.folder / folder_name(name, settings)

    def here(self, settings: Settings) -> Settings:
        """The settings with this machine's data folder, device and threads."""
        own = {"device": self.device, "threads": self.threads}
        changes: dict[str, Any] = {k: v for k, v in own.items() if v is not None}
        if self.data_dir is not None:
            changes["data"] = settings.data.model_copy(update={"dir": self.data_dir})
        return settings.model_copy(update=changes)


def runs_of(cell: Cell, seed: int, place: Place) -> list[Named]:
    """The runs that one seed of a cell rests on: one, or one for each setting searched."""
    return [_named(settings, cell.origin, seed, place) for settings in cell.settings]


def waves(cells: Iterable[Cell], seeds: int, place: Place) -> list[list[Named]]:
    """All runs, each once: first those that begin from nothing, then those that begin from them."""
    cells = list(cells)
    first = [run for c in cells if c.origin is None for run in _all_seeds(c, seeds, place)]
    origins = [c.origin for c in cells if c.origin is not None]
    first += [origin_run(o, seed, place) for o in origins for seed in range(seeds)]
    second = [run for c in cells if c.origin is not None for run in _all_seeds(c, seeds, place)]
    return [wave for wave in (_once(first), _once(second)) if wave]


def origin_run(origin: Origin, seed: int, place: Place) -> Named:
    """The run that others begin from."""
    return _named(origin.settings, None, seed, place)


def _all_seeds(cell: Cell, seeds: int, place: Place) -> list[Named]:
    return [run for seed in range(seeds) for run in runs_of(cell, seed, place)]


def _named(settings: Settings, origin: Origin | None, seed: int, place: Place) -> Named:
    def with_seed(number: int) -> Settings:
        own = settings.model_copy(update={"seed": number})
        return own if origin is None else _begun(own, origin, number, place)

    words = (Path(settings.data.name).stem, settings.student.model, settings.method.name)
    name = "_".join(words) + f"-{run_id(with_seed(0))[:6]}"
    return name, place.here(with_seed(seed))


def _begun(settings: Settings, origin: Origin, seed: int, place: Place) -> Settings:
    """The settings with the folder that they begin from."""
    home = str(place.home(*origin_run(origin, seed, place)).resolve())
    section = getattr(settings, origin.section).model_copy(update={origin.key: home})
    return settings.model_copy(update={origin.section: section})


def _once(runs: Sequence[Named]) -> list[Named]:
    """In order, without those that stand there already."""
    return list({(name, run_id(settings)): (name, settings) for name, settings in runs}.values())
