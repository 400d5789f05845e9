"""One run, from settings to a folder with a trained student, its metrics and its sample weights."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.table import Table
from safetensors.torch import save_file
from sklearn.metrics import roc_auc_score

from reweigh.config import RunConfig, read_config, run_id
from reweigh.data.prepare import DataSpec, prepare
from reweigh.data.samples import Problem
from reweigh.errors import DivergedError, InterruptedRun, UsageError
from reweigh.methods import method_for
from reweigh.training import signals
from reweigh.training.evaluate import error
from reweigh.training.generators import seeded
from reweigh.training.keeper import Keeper
from reweigh.training.loop import EpochReport, Loop
from reweigh.training.problem import data_spec
from reweigh.training.progress import Progress
from reweigh.training.run_folder import RunFolder, read_status, write_atomically
from reweigh.training.trials import Trials
from reweigh.training.weight_store import WeightStore
from reweigh.training.workshop import Workshop, choose_device

RESULT = "result.json"


@dataclass(frozen=True)
class RunResult:
    """What a run came to. Errors are shares of the test set in [0, 1]."""

    method: str
    seed: int
    run_id: str
    folder: str
    """Where it is; not written into it, so that it can be moved."""
    test_error_last: float
    """After the last epoch."""
    test_error_best_by_trusted: float
    """Of the epoch with the lowest error on the trusted set."""
    best_epoch: int
    trusted_error_last: float
    noise_auroc: float | None
    """How well low weights of the last epoch find wrong labels; None where nobody knows them."""
    steps: int
    train_seconds: float
    """Processor time of all training steps, a method's own trials included."""
    parameters: int

    def table(self) -> Table:
        """For people."""
        table = Table(title=f"{self.method}, seed {self.seed}", show_header=False)
        table.add_row("test error, last epoch", f"{self.test_error_last:.2%}")
        best = f"{self.test_error_best_by_trusted:.2%} (epoch {self.best_epoch + 1})"
        table.add_row("test error, epoch best by the trusted set", best)
        if self.noise_auroc is not None:
            table.add_row("AUROC of the weights for wrong labels", f"{self.noise_auroc:.3f}")
        table.add_row("processor time of training", f"{self.train_seconds:.1f} s")
        table.add_row("run folder", self.folder)
        return table


def train(
    config: RunConfig, folder: Path, progress: Progress, command: Sequence[str] = ("reweigh",)
) -> RunResult:
    """Train one student into `folder`, which is made and never overwritten."""
    with signals.listening(), _way_on(folder):
        set_up_torch(config)
        problem = prepared(data_spec(config))
        signals.check()
        with RunFolder.create(folder, config, command) as home:
            return _run(config, problem, home, progress)


def resume(
    folder: Path, progress: Progress, *, threads: int | None = None, allow_drift: bool = False
) -> RunResult:
    """Continue a run where it was saved, to the bits of a run in one piece; a done one is read."""
    if read_status(folder) == "done":
        return RunResult(**json.loads((folder / RESULT).read_text()), folder=str(folder))
    config = settings_of(folder)
    if threads is not None:
        config = config.model_copy(update={"threads": threads})
    with signals.listening(), _way_on(folder):
        set_up_torch(config)
        problem = prepared(data_spec(config))
        signals.check()
        with RunFolder.reopen(folder) as home:
            return _run(config, problem, home, progress, allow_drift=allow_drift)


def begin_or_go_on(
    config: RunConfig, folder: Path, progress: Progress, command: Sequence[str], allow_drift: bool
) -> RunResult:
    """Continue the run of these settings in `folder` if there is one, else begin it."""
    if not (folder / "config.toml").is_file():
        return train(config, folder, progress, command)
    if run_id(settings_of(folder)) != run_id(config):
        raise UsageError(f"{folder} holds a run with other settings; choose another --out.")
    return resume(folder, progress, threads=config.threads, allow_drift=allow_drift)


def settings_of(folder: Path) -> RunConfig:
    """The settings of the run in `folder`."""
    if not (folder / "config.toml").is_file():
        raise UsageError(f"{folder} is not a run folder: it has no config.toml.")
    return read_config(folder / "config.toml")


@contextmanager
def _way_on(folder: Path) -> Iterator[None]:
    """Tell who stops a run how to go on; the folder itself holds no path."""
    try:
        yield
    except InterruptedRun as stopped:
        there = (folder / "config.toml").is_file()
        way = f"Continue with: reweigh resume {folder}" if there else "Nothing was written yet."
        raise InterruptedRun(f"{stopped} {way}") from None


def _run(
    config: RunConfig,
    problem: Problem,
    home: RunFolder,
    progress: Progress,
    *,
    allow_drift: bool = False,
) -> RunResult:
    device = choose_device(config.device)
    try:
        with seeded(config.seed, device):
            return _train(config, problem, home, progress, device, allow_drift)
    except DivergedError as diverged:
        home.log(f"stopped: {diverged}")
        raise


def _train(
    config: RunConfig,
    problem: Problem,
    home: RunFolder,
    progress: Progress,
    device: torch.device,
    allow_drift: bool,
) -> RunResult:
    method = method_for(config.method)
    _write_labels(home.path, method.problem(problem), problem.class_names)
    home.log(json.dumps(problem.record))
    trials = Trials(config, problem, method, progress)
    keeper = Keeper(home, problem, method, trials, device)
    keeper.take_up(allow_drift=allow_drift)
    trials.restore, trials.save = keeper.restore, keeper.save
    if keeper.in_trials:
        method.prepare(trials)
    shop = Workshop(config, problem, method)
    weighs = shop.reweigher.teacher is not None
    store = WeightStore(home.weights, len(shop.train)) if weighs else None

    def tell(report: EpochReport) -> None:
        home.metrics(report.row())
        progress.note(
            f"epoch {report.epoch + 1}/{config.training.epochs}: loss {report.train_loss:.4f}, "
            f"trusted error {report.trusted_error:.2%}"
        )

    loop = Loop(shop, store, progress, tell, keeper.save, home.log)
    keeper.restore(loop)
    loop.run()
    result = _result(config, home, loop, store, trials.seconds)
    kept = {name: value for name, value in asdict(result).items() if name != "folder"}
    write_atomically(home.path / RESULT, json.dumps(kept, indent=2) + "\n")
    return result


def _result(
    config: RunConfig, home: RunFolder, loop: Loop, store: WeightStore | None, spent: float
) -> RunResult:
    """The test set is looked at here, once for the last epoch and once for the best by trusted."""
    shop = loop.shop
    student = shop.student
    last = error(student, shop.test, shop.forward)
    _save(student.state_dict(), home.path / "model.safetensors")
    if shop.reweigher.teacher is not None:
        _save(shop.reweigher.teacher.state_dict(), home.path / "teacher.safetensors")
    trusted_last = error(student, shop.trusted, shop.forward)
    student.load_state_dict(loop.best_state)
    _save(student.state_dict(), home.path / "best.safetensors")
    return RunResult(
        method=config.method.name,
        seed=config.seed,
        run_id=run_id(config),
        folder=str(home.path),
        test_error_last=last,
        test_error_best_by_trusted=error(student, shop.test, shop.forward),
        best_epoch=loop.best_epoch,
        trusted_error_last=trusted_last,
        noise_auroc=_auroc(store, shop.right, shop.doubtful),
        steps=shop.steps,
        train_seconds=loop.seconds + spent,
        parameters=sum(p.numel() for p in student.parameters()),
    )


def _auroc(store: WeightStore | None, right: torch.Tensor | None, n: int) -> float | None:
    """Probability that a rightly labelled sample outweighs a wrongly labelled one, of the first n:
    trusted samples that were mixed in stand behind them and are no achievement.
    """
    if store is None or right is None:
        return None
    truth, weights = right.cpu().numpy()[:n], np.asarray(store.epoch(store.epochs()[-1]))[:n]
    seen = ~np.isnan(weights)
    if truth[seen].all() or not truth[seen].any():
        return None
    return float(roc_auc_score(truth[seen], weights[seen]))


def rehearse(config: RunConfig, progress: Progress) -> "Rehearsal":
    """Build everything and take one step; nothing is written."""
    set_up_torch(config)
    problem = prepared(data_spec(config))
    shop = Workshop(config, problem, method_for(config.method))
    loop = Loop(shop)
    shop.student.train()
    loop.step(0)
    first = loop.seconds
    loop.step(1 % shop.steps)
    return Rehearsal(
        method=config.method.name,
        samples={"train": len(shop.train), "trusted": len(shop.trusted), "test": len(shop.test)},
        parameters=sum(p.numel() for p in shop.student.parameters()),
        steps=shop.steps,
        seconds_per_step=loop.seconds - first,
        device=str(shop.device),
    )


@dataclass(frozen=True)
class Rehearsal:
    """What a dry run found."""

    method: str
    samples: dict[str, int]
    parameters: int
    steps: int
    seconds_per_step: float
    device: str

    def table(self) -> Table:
        """For people."""
        table = Table(title=f"dry run: {self.method}", show_header=False)
        table.add_row("samples", ", ".join(f"{n} {name}" for name, n in self.samples.items()))
        table.add_row("student", f"{self.parameters:,} parameters on {self.device}")
        total = self.steps * self.seconds_per_step
        table.add_row("steps", f"{self.steps} of {self.seconds_per_step:.3f} s: {total:.0f} s")
        return table


@lru_cache(maxsize=4)
def prepared(spec: DataSpec) -> Problem:
    """The problem of a spec; a comparison's runs of one seed share it."""
    return prepare(spec)


def set_up_torch(config: RunConfig) -> None:
    """Threads and determinism, which decide over the last bits."""
    if config.threads is not None:
        torch.set_num_threads(config.threads)
    torch.use_deterministic_algorithms(config.deterministic)


def _save(state: dict[str, Any], path: Path) -> None:
    """Tensors to safetensors, whole or not at all."""
    beside = path.with_name(f".{path.name}.tmp")
    save_file({name: value.contiguous() for name, value in state.items()}, beside)
    shutil.move(beside, path)


def _write_labels(folder: Path, problem: Problem, class_names: Sequence[str]) -> None:
    """Which sample stands behind each position of the weights: its id and its labels."""
    true = np.array([]) if problem.true_labels is None else problem.true_labels
    names = np.array(list(class_names))
    np.savez(
        folder / "samples.npz",
        ids=problem.train.ids,
        labels=problem.train.labels,
        true_labels=true,
        class_names=names,
    )
