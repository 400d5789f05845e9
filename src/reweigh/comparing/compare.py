"""Many runs on the same terms: those that are not done yet are done, one by one or side by side."""

import os
import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from reweigh import __version__, signals
from reweigh.clusters.workers import Workers, hired
from reweigh.comparing.comparison import Comparison, with_cost
from reweigh.comparing.reading_tables import row_of
from reweigh.comparing.table_notes import Row
from reweigh.comparing.unchanged import refuse_changed
from reweigh.config import Settings
from reweigh.config.lineup import PRETRAINED, folder_name
from reweigh.config.writing import plain_values
from reweigh.distributed.launch import launched
from reweigh.errors import (
    InterruptedRun,
    NoCheckpointError,
    ReweighError,
    UsageError,
    in_a_sentence,
)
from reweigh.own_code import forget_code, named_in
from reweigh.replacing import make_folder
from reweigh.run_files import ENVIRONMENT, is_run
from reweigh.training.kept_result import kept_result
from reweigh.training.progress import Progress, SilentProgress
from reweigh.training.run import resume, train
from reweigh.training.run_folder import RunFolder, is_done, read_record
from reweigh.training.tasks import forget_problems

Named = tuple[str, Settings]
Ended = tuple[str, Settings, ReweighError | None]


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
    homes = [_home(folder, name, config) for name, config in runs]
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
    rows = [_row(name, folder, c) for name, c in runs if is_done(_home(folder, name, c))]
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
        found = kept_result(_home(folder, name, config))
        bleu, error = found.get("bleu_last"), found.get("test_error_last")
        shown = f"test error {error:.2%}" if bleu is None else f"BLEU {bleu:.2f}"
        progress.note(f"{name}, seed {config.seed}: {shown}")
    elif not isinstance(why, InterruptedRun):
        progress.note(f"{name}, seed {config.seed} failed: {why}")


def _stages(pending: list[tuple[str, Settings]]) -> list[list[tuple[str, Settings]]]:
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
        yield from _do_elsewhere(pending, folder.resolve(), cluster, stop.resolve())
        return
    if jobs == 1:
        for name, config in pending:
            if signals.should_stop():
                raise _stopped(folder)  # before it is announced
            progress.note(f"{name}, seed {config.seed}")
            yield _one(name, config, folder, progress, stop)
        return
    threads = max(1, (os.cpu_count() or 1) // jobs)
    tasks: Iterable[Any] = (
        delayed(_one)(name, _with_threads(c, threads), folder, SilentProgress(), stop)
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


def _do_elsewhere(pending: list[Named], folder: Path, cluster: str, stop: Path) -> Iterator[Ended]:
    """On a cluster, as many at a time as it has room for."""
    if not pending:
        return
    with hired(cluster) as workers:
        _check_workers(workers, cluster, folder)
        calls = [(name, _with_threads(c, workers.threads), folder, stop) for name, c in pending]
        for i, back in workers.run(_one_elsewhere, calls):
            yield (*pending[i], back) if isinstance(back, ReweighError) else back


def _check_workers(workers: Workers, cluster: str, folder: Path) -> None:
    """Before anything is sent: do all workers have this package, and this folder?

    Both are asked through functions of the standard library, which any worker can find.
    """
    for found in workers.everywhere(version, "reweigh"):
        if found != __version__:
            has = f"has reweigh {found}" if isinstance(found, str) else "cannot find reweigh"
            raise UsageError(
                f"A worker of {cluster} {has}, but this is {__version__}; install reweigh "
                f"{__version__} in the environment that its workers run in."
            )
    if not all(found is True for found in workers.everywhere(os.path.isdir, str(folder))):
        raise UsageError(
            f"A worker of {cluster} does not see {folder}; choose an --out on a disk that all share."
        )


def _one_elsewhere(name: str, config: Settings, folder: Path, stop: Path) -> Ended:
    """One run on a cluster: it stops when the table does; its worker's signals are the cluster's.

    The worker may have outlived a table before this one, and the files and the code it had read.
    """
    forget_problems()
    forget_code(config)
    with signals.following(stop):
        return _one(name, config, folder, SilentProgress(), stop)


def _with_threads(config: Settings, threads: int) -> Settings:
    return config if config.threads else config.model_copy(update={"threads": threads})


def _one(name: str, config: Settings, folder: Path, progress: Progress, stop: Path) -> Ended:
    """One run; what it failed of, memory perhaps, is told and does not stop the others."""
    try:
        with signals.listening(stop):
            signals.check()
            _begin_or_go_on(config, _home(folder, name, config), progress)
    except (ReweighError, RuntimeError, MemoryError, OSError, ValueError) as error:
        return name, config, in_a_sentence(error)
    except Exception as error:  # the user's code may raise anything
        if not named_in(config):
            raise
        return name, config, in_a_sentence(error)
    return name, config, None


def _begin_or_go_on(config: Settings, home: Path, progress: Progress) -> None:
    """Go on with a run that has a checkpoint, however it ended; without one it starts again.

    It goes on with the threads that it began with, whatever this command would give a new one.
    """
    if any(home.glob("checkpoints/step_*")):
        try:
            resume(home, progress, threads=read_record(home / ENVIRONMENT).get("threads"))
            return
        except NoCheckpointError as error:
            progress.note(f"{home.name} starts again: {error}")
    _clear(home)
    train(config, home, progress, command=("reweigh", "train", "config.toml"))


def _clear(home: Path) -> None:
    """Take away what a failed run left, unless somebody is writing it.

    It loses its name at once: nobody takes up a run that is being deleted, or meets half of it.
    """
    if home.exists():
        held = RunFolder.reopen(home)  # refused where another process holds the lock
        away = home.rename(home.with_name(f".{home.name}.tmp-{os.getpid()}"))
        held.close()
        shutil.rmtree(away)


def _home(folder: Path, name: str, config: Settings) -> Path:
    return folder / folder_name(name, config)


def _row(name: str, folder: Path, config: Settings) -> Row:
    home = _home(folder, name, config)
    return row_of(home, name, plain_values(config.method)) | {"folder": str(home)}
