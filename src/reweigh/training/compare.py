"""Many runs on the same terms, and the one table that they are for."""

import json
import os
import shutil
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from rich.table import Table

from reweigh.config import RunConfig, run_id
from reweigh.config.lineup import BUDGETS
from reweigh.errors import ReweighError
from reweigh.training.progress import Progress, SilentProgress
from reweigh.training.run import RESULT, train
from reweigh.training.run_folder import RunFolder, read_status

Row = dict[str, Any]
Ended = tuple[str, RunConfig, ReweighError | None]


@dataclass(frozen=True)
class Comparison:
    """One row per method and seed."""

    rows: list[Row]
    failures: dict[str, ReweighError]
    folder: Path

    def outcome(self) -> dict[str, Any]:
        """For programs."""
        return {"rows": self.rows, "failures": {n: str(why) for n, why in self.failures.items()}}

    def table(self) -> Table:
        """Mean ± standard deviation over seeds, in percent; cost in units of plain training."""
        table = Table(title=f"test error, % ({self.folder})")
        for name in ("method", "seeds", "last epoch", "best by trusted", "cost", "noise AUROC"):
            table.add_column(name, justify="left" if name == "method" else "right")
        methods = list(dict.fromkeys(row["method"] for row in self.rows))
        table.caption = "; ".join(f"{m}: {BUDGETS[m]}" for m in methods if m in BUDGETS) or None
        for method in methods:
            some = [row for row in self.rows if row["method"] == method]
            table.add_row(
                method, str(len(some)), *(_spread(some, key) for key in _PERCENT), *_other(some)
            )
        for name, why in self.failures.items():
            table.add_row(name, "–", f"failed: {why}")
        return table


_PERCENT = ("test_error_last", "test_error_best_by_trusted")


def compare(
    runs: list[tuple[str, RunConfig]], folder: Path, progress: Progress, jobs: int = 1
) -> Comparison:
    """Do the runs that are not done yet; the same call takes up a table that was stopped.

    A run that fails is listed and stops no other; where all fail, the first error is raised.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pending = [(name, c) for name, c in runs if not _is_done(_home(folder, name, c))]
    progress.note(f"{len(runs)} runs, {len(runs) - len(pending)} of them done before")
    failures: dict[str, ReweighError] = {}
    for name, config, why in _do(pending, folder, progress, jobs):
        home = _home(folder, name, config)
        if why is None:
            last = json.loads((home / RESULT).read_text())["test_error_last"]
            progress.note(f"{name}, seed {config.seed}: test error {last:.2%}")
        else:
            failures[f"{name}, seed {config.seed}"] = why
            progress.note(f"{name}, seed {config.seed} failed: {why}")
    rows = [_row(name, folder, c) for name, c in runs if _is_done(_home(folder, name, c))]
    if failures and not rows:
        raise next(iter(failures.values()))
    return Comparison(_with_cost(rows), failures, folder)


def _do(
    pending: list[tuple[str, RunConfig]], folder: Path, progress: Progress, jobs: int
) -> Iterator[Ended]:
    if jobs == 1:
        for name, config in pending:
            progress.note(f"{name}, seed {config.seed}")
            yield _one(name, config, folder, progress)
        return
    threads = max(1, (os.cpu_count() or 1) // jobs)
    tasks: Iterable[Any] = (
        delayed(_one)(name, _with_threads(c, threads), folder, SilentProgress())
        for name, c in pending
    )
    done: Any = Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks)
    yield from done


def _with_threads(config: RunConfig, threads: int) -> RunConfig:
    return config if config.threads else config.model_copy(update={"threads": threads})


def _one(name: str, config: RunConfig, folder: Path, progress: Progress) -> Ended:
    """One run; what it failed of is told and does not stop the others."""
    home = _home(folder, name, config)
    try:
        _clear(home)
        train(config, home, progress, command=("reweigh", "train", "config.toml"))
    except ReweighError as error:
        return name, config, error
    return name, config, None


def _clear(home: Path) -> None:
    """Take away what an unfinished run left: it starts again, unless somebody is writing it."""
    if home.exists():
        RunFolder.reopen(home).close()  # refused where another process holds the lock
        shutil.rmtree(home)


def _home(folder: Path, name: str, config: RunConfig) -> Path:
    return folder / f"{name}_s{config.seed}_{run_id(config)[:8]}"


def _is_done(home: Path) -> bool:
    return read_status(home) == "done" and (home / RESULT).is_file()


def _row(name: str, folder: Path, config: RunConfig) -> Row:
    home = _home(folder, name, config)
    return json.loads((home / RESULT).read_text()) | {"method": name, "folder": str(home)}


def _with_cost(rows: list[Row]) -> list[Row]:
    """Cost: processor time of training over that of plain training, of the same seed if there."""
    plain = {row["seed"]: row["train_seconds"] for row in rows if row["method"] == "uniform"}
    usual = statistics.median(plain.values()) if plain else None
    return [
        row | {"cost": row["train_seconds"] / plain.get(row["seed"], usual) if usual else None}
        for row in rows
    ]


def _spread(rows: list[Row], key: str) -> str:
    values = [100 * row[key] for row in rows]
    spread = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.2f}{spread}"


def _other(rows: list[Row]) -> tuple[str, str]:
    costs = [row["cost"] for row in rows if row["cost"] is not None]
    found = [row["noise_auroc"] for row in rows if row["noise_auroc"] is not None]
    return (
        f"{statistics.median(costs):.2f}" if costs else "–",
        f"{statistics.mean(found):.3f}" if found else "–",
    )
