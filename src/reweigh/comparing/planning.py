"""A dry run of a whole comparison: every row is built once, two steps of each are taken."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from reweigh.config import Settings, run_id
from reweigh.config.lineup import folder_name
from reweigh.errors import ReweighError, in_a_sentence
from reweigh.own_code import named_in
from reweigh.training.rehearsal import rehearse
from reweigh.training.run_records import is_done


@dataclass(frozen=True)
class PlannedRow:
    """The runs of one row, and how long they may take."""

    method: str
    seeds: list[int]
    run_ids: list[str]
    seconds: float | None
    """Steps of the runs that are not finished, one after another; None where it cannot be run."""
    why: str = ""
    """Why it cannot be run."""
    done: list[int] = field(default_factory=list)
    """Seeds that are finished already, and would not be run again."""

    def cells(self) -> dict[str, str]:
        """For people, by column."""
        return {
            "method": self.method,
            "seeds": ", ".join(map(str, self.seeds)),
            "done": ", ".join(map(str, self.done)),
            "ids": " ".join(self.run_ids),
            "takes": self.why if self.seconds is None else f"{self.seconds / 60:.1f} min",
        }


@dataclass(frozen=True)
class Plan:
    """What a comparison would do."""

    rows: list[PlannedRow]

    @property
    def possible(self) -> bool:
        """Whether every row can be run."""
        return all(row.seconds is not None for row in self.rows)

    def outcome(self) -> dict[str, Any]:
        """For programs."""
        return {"rows": [asdict(row) for row in self.rows]}

    def table(self) -> Table:
        """For people: no column that would be empty."""
        total = sum(row.seconds or 0 for row in self.rows) / 60
        caption = (
            f"about {total:.1f} min, one after another, for the steps alone: updates of teachers, trial "
            "trainings (l2t-data, gold-loss-correction) and evaluations come on top"
        )
        rows = [row.cells() for row in self.rows]
        heads = [head for head in rows[0] if any(row[head] for row in rows)]
        table = Table(*heads, title="dry run", caption=caption)
        for row in rows:
            table.add_row(*(escape(row[head]) for head in heads))
        return table


def plan(runs: Iterable[tuple[str, Settings]], folder: Path) -> Plan:
    """Build the first run of every row; where all fail, the first error is raised.

    `folder` is where the comparison would be: what is finished there is not run again.
    """
    rows: dict[str, list[Settings]] = {}
    for name, config in runs:
        rows.setdefault(name, []).append(config)
    tried = {name: _seconds(configs[0]) for name, configs in rows.items()}
    errors = [found for found in tried.values() if isinstance(found, ReweighError)]
    if len(errors) == len(tried):
        raise errors[0]
    return Plan([_planned(name, configs, tried[name], folder) for name, configs in rows.items()])


def _seconds(config: Settings) -> float | ReweighError:
    try:
        return rehearse(_from_scratch(config)).seconds
    except ReweighError as error:
        return error
    except Exception as error:  # the user's code may raise anything
        if not named_in(config):
            raise
        return in_a_sentence(error)


def _planned(
    name: str, configs: list[Settings], found: float | ReweighError, folder: Path
) -> PlannedRow:
    seeds, ids = [c.seed for c in configs], [run_id(c)[:8] for c in configs]
    done = [c.seed for c in configs if is_done(folder / folder_name(name, c))]
    if isinstance(found, ReweighError):
        return PlannedRow(name, seeds, ids, None, str(found), done)
    return PlannedRow(name, seeds, ids, found * (len(configs) - len(done)), done=done)


def _from_scratch(config: Settings) -> Settings:
    """What it begins from is made when the comparison is run."""
    if getattr(config.student, "start", None) is None:
        return config
    return config.model_copy(update={"student": config.student.model_copy(update={"start": None})})
