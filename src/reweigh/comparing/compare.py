"""Many runs on the same terms: those that are not done yet are done, one by one or side by side."""

import os
from collections.abc import Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from reweigh import signals
from reweigh.comparing.comparison import Comparison, with_cost
from reweigh.comparing.elsewhere import do_elsewhere
from reweigh.comparing.one_run import Ended, Named, do_one, home_of, with_threads
from reweigh.comparing.reading_tables import row_of
from reweigh.comparing.table_notes import Row
from reweigh.comparing.unchanged import refuse_changed
from reweigh.config import Settings
from reweigh.config.lineup import PRETRAINED
from reweigh.config.writing import plain_values
from reweigh.distributed.launch import launched
from reweigh.errors import InterruptedRun, ReweighError, UsageError
from reweigh.replacing import make_folder
from reweigh.run_files import is_run
from reweigh.training.kept_result import kept_result
from reweigh.training.progress import Progress, SilentProgress
from reweigh.training.run_records import is_done


def compare(
    runs: list[Named],
    folder: Path,
    progress: Progress,
    jobs: int = 1,
    cluster: str | None = None,
) -> Comparison:
    """Do the runs that are not done yet; the same call takes up a table that was stopped.

    A run that fails is listed and stops no other; where all fail, the first error is raised.
    `cluster` is an address, such as `ray` or `dask://host:8786`, whose workers see `folder` too.
    """
    if launched():
        raise UsageError(
            "torchrun starts many processes for one run (reweigh train), but a comparison starts its "
            "own: call it without torchrun, with --jobs."
        )
    if cluster is not None and jobs > 1:
        raise UsageError(
            f"--jobs {jobs} is for this machine; a cluster does as many runs at a time as it has room "
            "for: leave it out."
        )
    if is_run(folder):
        raise UsageError(f"{folder} is a run's own folder; give --out another one for the table.")
    make_folder(folder, "choose another --out")
    homes = [home_of(folder, name, config) for name, config in runs]
    done = [is_done(home) for home in homes]
    if cluster is None:  # its workers read data of their own
        refuse_changed((c, h) for (_, c), h, d in zip(runs, homes, done, strict=True) if d)
    pending = [run for run, d in zip(runs, done, strict=True) if not d]
    progress.note(f"{len(runs)} runs, {sum(done)} of them done before")
    failures: dict[str, ReweighError] = {}
    with _stoppable(folder) as stop:
        for stage in _stages(pending):
            for name, config, why in _do(stage, folder, progress, jobs, cluster, stop):
                if why is not None:
                    failures[f"{name}, seed {config.seed}"] = why
                _tell(name, config, folder, progress, why)
    if any(isinstance(why, InterruptedRun) for why in failures.values()):
        raise _stopped(folder)
    rows = [_row(name, folder, c) for name, c in runs if is_done(home_of(folder, name, c))]
    if failures and not rows:
        raise next(iter(failures.values()))
    return Comparison(with_cost(rows), {n: str(why) for n, why in failures.items()}, folder)


def _stopped(folder: Path) -> InterruptedRun:
    return InterruptedRun(f"Stopped and saved in {folder}; the same command goes on from there.")


@contextmanager
def _stoppable(folder: Path) -> Iterator[Path]:
    """Listen to signals, and tell all processes of the table of them by a file."""
    stop = folder / f".stop-{os.getpid()}"
    stop.unlink(missing_ok=True)  # of a process of this number that was killed
    try:
        with signals.listening(stop):
            yield stop
    finally:
        stop.unlink(missing_ok=True)


def _tell(
    name: str, config: Settings, folder: Path, progress: Progress, why: ReweighError | None
) -> None:
    if why is None:
        found = kept_result(home_of(folder, name, config))
        bleu, error = found.get("bleu_last"), found.get("test_error_last")
        shown = f"test error {error:.2%}" if bleu is None else f"BLEU {bleu:.2f}"
        progress.note(f"{name}, seed {config.seed}: {shown}")
    elif not isinstance(why, InterruptedRun):
        progress.note(f"{name}, seed {config.seed} failed: {why}")


def _stages(pending: list[Named]) -> list[list[Named]]:
    """What others begin from is done before them."""
    first = [run for run in pending if run[0] == PRETRAINED]
    rest = [run for run in pending if run[0] != PRETRAINED]
    return [stage for stage in (first, rest) if stage]


def _do(
    pending: list[Named],
    folder: Path,
    progress: Progress,
    jobs: int,
    cluster: str | None,
    stop: Path,
) -> Iterator[Ended]:
    if cluster is not None:
        yield from do_elsewhere(pending, folder.resolve(), cluster, stop.resolve())
        return
    if jobs == 1:
        for name, config in pending:
            if signals.should_stop():
                raise _stopped(folder)  # before it is announced
            progress.note(f"{name}, seed {config.seed}")
            yield do_one(name, config, folder, progress, stop)
        return
    threads = max(1, (os.cpu_count() or 1) // jobs)
    tasks: Iterable[Any] = (
        delayed(do_one)(name, with_threads(c, threads), folder, SilentProgress(), stop)
        for name, c in pending
    )
    pool = Parallel(
        n_jobs=jobs, return_as="generator_unordered", initializer=signals.ignore_while_idle
    )
    done: Any = pool(tasks)
    try:
        yield from done
    except BrokenProcessPool as broken:
        if signals.should_stop():  # it reached a process that was only starting
            raise _stopped(folder) from None
        raise ReweighError(
            f"A process of the comparison in {folder} was killed, for lack of memory perhaps; the "
            "same command goes on from there, with fewer --jobs if it happens again."
        ) from broken


def _row(name: str, folder: Path, config: Settings) -> Row:
    home = home_of(folder, name, config)
    return row_of(home, name, plain_values(config.method)) | {"folder": str(home)}
