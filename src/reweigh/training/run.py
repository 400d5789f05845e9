"""One run, from settings to a folder with a trained student, its metrics and its sample weights."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from traceback import format_exception
from typing import Any

import torch

from reweigh import signals
from reweigh.config import Settings, read_config, run_id
from reweigh.distributed.group import any_of, from_first, rank, together
from reweigh.distributed.launch import joined, lost_told
from reweigh.errors import DivergedError, InterruptedRun, OwnCodeError, UsageError
from reweigh.methods import AnyProblem, method_for
from reweigh.own_code import code_of, place_told
from reweigh.replacing import write_atomically
from reweigh.run_files import CONFIG, TEACHER, is_run, refuse_no_run, student_file
from reweigh.stepping.freed_memory import keep_freed_memory
from reweigh.teachers import Teacher
from reweigh.training.checkpoint import packed
from reweigh.training.environment import choose_device, machine
from reweigh.training.generators import seeded
from reweigh.training.keeper import Keeper
from reweigh.training.kept_result import kept_result
from reweigh.training.loop import EpochReport, Loop
from reweigh.training.noise_found import noise_auroc
from reweigh.training.onlooker import Onlooker
from reweigh.training.progress import Progress
from reweigh.training.result import RESULT, RunResult
from reweigh.training.run_folder import RunFolder
from reweigh.training.run_records import read_status
from reweigh.training.shared_weights import SharedWeights
from reweigh.training.short_runs import of_length
from reweigh.training.start import starting_point
from reweigh.training.tasks import kind_of, prepared
from reweigh.training.tasks.base import fingerprint
from reweigh.training.trials import Trials
from reweigh.training.weight_store import WeightStore
from reweigh.training.whereabouts import with_data_found, with_origins_found
from reweigh.training.workshop import Workshop


def train(
    config: Settings, folder: Path, progress: Progress, command: Sequence[str] = ("reweigh",)
) -> RunResult:
    """Train one student into `folder`, which is made and never overwritten."""
    with joined(config.device), signals.listening(), _way_on(folder):
        set_up_torch(config)
        problem = prepared(config)
        signals.check()
        with _opened(lambda: RunFolder.create(folder, config, command), folder) as home:
            return _run(config, problem, home, progress)


def resume(
    folder: Path, progress: Progress, *, threads: int | None = None, allow_drift: bool = False
) -> RunResult:
    """Continue a run where it was saved, to the bits of a run in one piece; a done one is read."""
    config = with_origins_found(settings_of(folder), folder)
    if read_status(folder) == "done":
        return read_result(config, folder)
    if threads is not None:
        config = config.model_copy(update={"threads": threads})
    with joined(config.device), signals.listening(), _way_on(folder):
        set_up_torch(config)
        problem = prepared(with_data_found(config, folder))
        signals.check()
        with _opened(lambda: RunFolder.reopen(folder), folder) as home:
            return _run(config, problem, home, progress, allow_drift=allow_drift)


def begin_or_go_on(
    config: Settings, folder: Path, progress: Progress, command: Sequence[str], allow_drift: bool
) -> RunResult:
    """Continue the run of these settings in `folder` if there is one, else begin it."""
    with joined(config.device):
        folder = from_first(lambda: folder)
        if not from_first(lambda: is_run(folder)):
            return train(config, folder, progress, command)
        if run_id(settings_of(folder)) != run_id(config):
            raise UsageError(f"{folder} holds a run with other settings; choose another --out.")
        return resume(folder, progress, threads=config.threads, allow_drift=allow_drift)


def settings_of(folder: Path) -> Settings:
    """The settings of the run in `folder`."""
    refuse_no_run(folder)
    return read_config(folder / CONFIG)


def refuse_unfinished(folder: Path) -> None:
    """What is said of a run is said of its end."""
    if not (folder / RESULT).is_file():
        raise UsageError(
            f"The run in {folder} has not finished: it has no {RESULT}; go on with it by reweigh "
            f"resume {quote(str(folder))}"
        )


def _opened(open_it: Callable[[], RunFolder], path: Path) -> RunFolder:
    """The folder: the first process writes, the others look on, or fail as it fails."""
    homes: list[RunFolder] = []
    from_first(lambda: homes.append(open_it()))
    return homes[0] if homes else Onlooker(path)


@contextmanager
def _way_on(folder: Path) -> Iterator[None]:
    """Tell who stops a run how to go on; the folder itself holds no path."""
    try:
        yield
    except InterruptedRun as stopped:
        there = is_run(folder)
        way = (
            f"Continue with: reweigh resume {quote(str(folder))}"
            if there
            else "Nothing was written yet."
        )
        raise InterruptedRun(f"{stopped} {way}") from None


def _run(
    config: Settings,
    problem: AnyProblem,
    home: RunFolder,
    progress: Progress,
    *,
    allow_drift: bool = False,
) -> RunResult:
    device = choose_device(config.device)
    try:
        with (
            lost_told(),
            signals.agreeing(any_of),
            seeded(config.seed, device),
            place_told(config),
        ):
            return _train(config, problem, home, progress, device, allow_drift)
    except DivergedError as diverged:
        home.log(f"stopped: {diverged}")
        raise
    except OwnCodeError as failed:
        home.log("".join(format_exception(failed)))  # it may have taken hours to come to it
        raise


def _train(
    config: Settings,
    problem: AnyProblem,
    home: RunFolder,
    progress: Progress,
    device: torch.device,
    allow_drift: bool,
) -> RunResult:
    method = method_for(config.method)
    if rank() == 0:
        kind_of(config).describe(problem, method.problem(problem), home.path)
    home.log(json.dumps(problem.record))
    _tell_cautions(problem.cautions, home, progress)
    start = starting_point(config, home.path)
    trials = Trials(config, problem, method, progress, start)
    code = code_of(config)
    keeper = Keeper(home, problem, method, trials, device, code)
    keeper.take_up(allow_drift=allow_drift)
    trials.restore, trials.save = keeper.restore, keeper.save
    if keeper.in_trials:
        method.prepare(trials)
    shop = Workshop(config, problem, method, start)
    teacher = shop.reweigher.teacher
    if teacher is not None:
        home.log(_by_whom(teacher))
    short = of_length(shop)
    _tell_cautions(short, home, progress)
    kind = SharedWeights if together() else WeightStore
    store = kind(home.weights, shop.task.size) if teacher is not None else None

    def tell(report: EpochReport) -> None:
        home.metrics(report.row())
        progress.note(
            f"epoch {report.epoch + 1}/{shop.epochs}: loss {report.train_loss:.4f}, "
            f"{report.trusted.shown}"
        )

    loop = Loop(shop, store, progress, tell, keeper.save, home.log)
    keeper.restore(loop)
    loop.run()
    result = _result(config, problem, home, loop, trials.seconds, code, [*problem.cautions, *short])
    if rank() == 0:
        write_atomically(home.path / RESULT, json.dumps(result.kept(), indent=2) + "\n")
    return result


def _by_whom(teacher: Teacher) -> str:
    """What an unset `method.average` came to is a matter of the schedule, and settings do not show it."""
    whom = (
        f"a running average of the student ({teacher.average})"
        if teacher.average
        else "the student"
    )
    return f"{type(teacher).__name__} judges by {whom}"


def _tell_cautions(words: Sequence[str], home: RunFolder, progress: Progress) -> None:
    for word in words:
        home.log(f"caution: {word}")
        progress.note(f"caution: {word}")


def _result(
    config: Settings,
    problem: AnyProblem,
    home: RunFolder,
    loop: Loop,
    spent: float,
    code: str,
    cautions: list[str],
) -> RunResult:
    """The test set is looked at here, once for the last epoch and once for the best by trusted."""
    shop, task, student = loop.shop, loop.shop.task, loop.shop.student
    store = loop.weights.store if isinstance(loop.weights, SharedWeights) else loop.weights
    loop.end_with_average()
    last = task.score()
    _save(student.state_dict(), student_file(home.path, last=True))
    if shop.reweigher.teacher is not None:
        _save(shop.reweigher.teacher.state_dict(), home.path / TEACHER)
    trusted = task.standing()
    student.load_state_dict(loop.best_state)
    _save(student.state_dict(), student_file(home.path, last=False))
    common = {
        "method": config.method.name,
        "seed": config.seed,
        "run_id": run_id(config),
        "folder": str(home.path),
        "best_epoch": loop.best_epoch,
        "noise_auroc": noise_auroc(store, task.right, task.doubtful),
        "steps": shop.steps,
        "train_seconds": loop.seconds + spent,
        "machine": machine(shop.device),
        "parameters": sum(p.numel() for p in student.parameters()),
        "fingerprint": fingerprint(problem),
        "code": code,
        "cautions": cautions,
    }
    best = task.score()
    if rank() == 0:
        task.keep_answers(last, best, home.path)
    return task.result(common, last, best, trusted)


def read_result(config: Settings, folder: Path) -> RunResult:
    """What the finished run in `folder` came to."""
    return kind_of(config).Result(**kept_result(folder), folder=str(folder))


def set_up_torch(config: Settings) -> None:
    """Threads and determinism, which decide over the last bits, and memory, which does not."""
    keep_freed_memory()
    if config.threads is not None:
        torch.set_num_threads(config.threads)
    torch.use_deterministic_algorithms(config.deterministic)


def _save(state: dict[str, Any], path: Path) -> None:
    """Tensors to safetensors, whole or not at all; by the first process."""
    if rank() > 0:
        return
    write_atomically(path, packed(state))
