"""What `bench audit` has stored, as tables: one a measure, a row a setting, a column a way."""

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from reweigh.comparing import written_tables
from reweigh.comparing.measures import spread
from reweigh.errors import DataError

MEASURES = {"auroc": "AUROC", "average_precision": "average precision", "f1": "F1", "cost": "cost"}
OWN, PEER = "audit", "cleanlab"

Values = dict[str, list[float]]


def read_cells(folder: Path) -> list[dict[str, Any]]:
    """The stored cells, each way with its cost in plain trainings where plain training was run."""
    cells = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))]
    if not cells:
        raise DataError(f"{folder} holds no result yet: fill it with reweigh bench audit.")
    for cell in cells:
        plain = cell["ways"].get("plain-loss")
        for found in cell["ways"].values():
            found |= {"cost": found["seconds"] / plain["seconds"]} if plain else {}
    return cells


def tables(cells: Sequence[dict[str, Any]]) -> list[Table]:
    """For a terminal."""
    ways = _ways(cells)
    made = []
    for measure, title in MEASURES.items():
        table = Table("data", "noise", *ways, title=title)
        for (data, noise), values in _settings(cells, measure).items():
            table.add_row(data, noise, *(_shown(values.get(way, []), measure) for way in ways))
        made.append(table)
    return made


def markdown(cells: Sequence[dict[str, Any]]) -> str:
    """For a page: the best of each row in bold, and in how many settings we lead."""
    ways, parts = _ways(cells), []
    for measure, title in MEASURES.items():
        settings = _settings(cells, measure)
        lines = [[*setting, *_marked(v, ways, measure)] for setting, v in settings.items()]
        words = ("data", "noise")
        text = written_tables.markdown([*words, *ways], lines, words)
        parts.append(f"### {title}\n\n{text}\n\n{_verdict(list(settings.values()), measure)}")
    return "\n\n".join(parts)


def _verdict(settings: list[Values], measure: str) -> str:
    both = [v for v in settings if v.get(OWN) and v.get(PEER)]
    digits = _digits(measure)
    own = [tuple(round(statistics.mean(v[way]), digits) for way in (OWN, PEER)) for v in both]
    seeds = min((len(v[way]) for v in both for way in (OWN, PEER)), default=0)
    of = f"{len(own)} settings, {seeds} seed{'s' if seeds != 1 else ''} or more each"
    if measure == "cost":
        won = sum(a < b / 2 for a, b in own)
        return f"{OWN} costs less than half of {PEER} in {won} of {of}."
    won = sum(a > b for a, b in own)
    return (
        f"{OWN}, which has trusted samples, is ahead of {PEER}, which has none, in {won} of {of}."
    )


def _marked(values: Values, ways: Sequence[str], measure: str) -> list[str]:
    """The row's cells; what is best to the digits shown is bold, costs are not ranked."""
    shown = {way: _shown(values.get(way, []), measure) for way in ways}
    if measure == "cost":
        return list(shown.values())
    means = {way: round(statistics.mean(v), _digits(measure)) for way, v in values.items() if v}
    best = max(means.values()) if len(means) > 1 else None
    return [f"**{shown[way]}**" if means.get(way, -1) == best else shown[way] for way in ways]


def _shown(values: Sequence[float], measure: str) -> str:
    return spread(values, _digits(measure)) or "–"


def _digits(measure: str) -> int:
    """That are shown; what is alike to them is not ranked."""
    return 2 if measure == "cost" else 3


def _ways(cells: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(way for cell in cells for way in cell["ways"]))


def _settings(cells: Sequence[dict[str, Any]], measure: str) -> dict[tuple[str, str], Values]:
    """Values of a measure over seeds, by setting and way."""
    found: dict[tuple[str, str], Values] = {}
    for cell in cells:
        values = found.setdefault((cell["data"], cell["noise"]), {})
        for way, scores in cell["ways"].items():
            if measure in scores:
                values.setdefault(way, []).append(scores[measure])
    return found
