"""How well planted wrong labels are found: the audit, cleanlab, plain loss, Meta-Weight-Net.

A cell is a data set, a noise and a seed; all ways of a cell see the same samples, student and
schedule. A way's cost is the processor time of all trainings and predictions it asks for, in that of
one plain training. Cells are kept as small JSON files, way by way: what is there is not done again,
and what was found under other settings is never replaced.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.audit.detection import detection
from reweigh.audit.issues import issues_among
from reweigh.audit.run import Audit, audit_run
from reweigh.audit.weights import weight_ranks
from reweigh.config import RunConfig, read_config, run_id
from reweigh.config.lineup import LINEUP
from reweigh.data.noise import parse_noise
from reweigh.data.samples import Problem
from reweigh.errors import UsageError
from reweigh.methods import method_for
from reweigh.replacing import write_atomically
from reweigh.training.evaluate import probabilities
from reweigh.training.generators import seeded
from reweigh.training.loop import Loop
from reweigh.training.progress import SilentProgress
from reweigh.training.run import begin_or_go_on, set_up_torch
from reweigh.training.run_records import read_record
from reweigh.training.tasks import prepared
from reweigh.training.tasks.classification import Classification
from reweigh.training.workshop import Workshop

FOLDS = 5
_TEN_THOUSAND = ("data.train_limit=10000", "data.trusted_per_class=100")
SETTINGS: dict[str, tuple[str, ...]] = {
    "digits": (),
    "mnist5k": (),
    "fashion-mnist": (*_TEN_THOUSAND, "student.model=cnn"),
    "cifar10": (*_TEN_THOUSAND, "student.model=resnet8", "training.bf16=true"),  # half the time
}
"""Data sets, and what is set for them; the rest are the defaults of `reweigh train`."""

SCORES = ("auroc", "average_precision", "precision", "recall", "f1")
Found = dict[str, float]


@dataclass(frozen=True)
class Cell:
    """One problem with known wrong labels; `config` is plain training on it."""

    data: str
    noise: str
    config: RunConfig

    @property
    def name(self) -> str:
        """For a file."""
        return f"{Path(self.data).stem}_{self.noise.replace(':', '-')}_s{self.config.seed}"

    @property
    def problem(self) -> Problem:
        """Samples with planted noise."""
        problem = prepared(self.config)
        assert isinstance(problem, Problem)
        return problem

    def under(self, row: str) -> RunConfig:
        """The same run under the method of a row of the line-up."""
        return self.config.model_copy(update={"method": LINEUP[row]})


def cells(
    data: Sequence[str], noises: Sequence[str], seeds: int, assignments: Sequence[str]
) -> Iterator[Cell]:
    """All cells, seed by seed, so that every setting has a first answer early."""
    plain = {"method": {"name": "uniform"}, "threads": 1}
    for noise in noises:
        if not (parsed := parse_noise(noise)).rate and parsed.kind != "matrix":
            raise UsageError(
                f"--noise {noise} makes no label wrong, so there is nothing to detect."
            )
    for seed in range(seeds):
        for name in data:
            for noise in noises:
                named = {"data.name": name, "data.noise": noise, "seed": seed, **plain}
                config = read_config(None, named, [*SETTINGS.get(name, ()), *assignments])
                if not isinstance(config, RunConfig):
                    raise UsageError("Labels are found wrong in classification; set no other task.")
                yield Cell(name, noise, config)


def measure(cell: Cell, ways: Sequence[str], out: Path, work: Path) -> dict[str, Any]:
    """What the ways find in a cell: those not stored in `out` yet are done, runs lie in `work`."""
    if "cleanlab" in ",".join(ways) and find_spec("cleanlab") is None:
        raise UsageError("cleanlab is not installed here; run `pip install 'reweigh[bench]'`.")
    set_up_torch(cell.config)
    file, key = out / f"{cell.name}.json", run_id(cell.config)
    new = {"data": cell.data, "noise": cell.noise, "seed": cell.config.seed, "run_id": key}
    kept = read_record(file) if file.is_file() else {**new, "ways": {}}
    if kept.get("run_id") != key:
        raise UsageError(f"{file} was found under other settings; choose another --out.")
    out.mkdir(parents=True, exist_ok=True)
    for way in ways:
        row, find = WAYS[way]
        made = run_id(cell.under(row))  # defaults of a method may change
        if kept["ways"].get(way, {}).get("run_id") != made:
            kept["ways"][way] = find(cell, row, work) | {"run_id": made}
            write_atomically(file, json.dumps(kept, indent=2) + "\n")
    return kept


def _audited(cell: Cell, row: str, work: Path) -> tuple[Audit, float]:
    """The audit of a run under this method, and the seconds of both."""
    home = work / f"{cell.name}_{row}"
    run = begin_or_go_on(cell.under(row), home, SilentProgress(), ["reweigh"], allow_drift=False)
    start = time.process_time()
    audit = audit_run(home)
    return audit, run.train_seconds + time.process_time() - start


def _own(cell: Cell, row: str, work: Path) -> Found:
    """`reweigh train`, then `reweigh audit`."""
    audit, seconds = _audited(cell, row, work)
    return _scores(cell, audit.quality, audit.is_issue, seconds)


def _by_loss(cell: Cell, row: str, work: Path) -> Found:
    """The student's p(label): the lower, the higher the loss; how many as in every audit."""
    audit, seconds = _audited(cell, row, work)
    labels = audit.samples.labels
    p = audit.look.probabilities[np.arange(len(labels)), labels]
    issues = issues_among(labels, audit.predicted, p, audit.noise_matrix)
    return _scores(cell, p, issues, seconds)


def _by_weight(cell: Cell, row: str, work: Path) -> Found:
    """Mean weights of the last epochs; how many in each class as in every audit."""
    audit, seconds = _audited(cell, row, work)
    ranks = weight_ranks(audit.weight)
    issues = issues_among(audit.samples.labels, audit.predicted, ranks, audit.noise_matrix)
    return _scores(cell, ranks, issues, seconds)


def _cleanlab(cell: Cell, row: str, work: Path) -> Found:
    """cleanlab with its defaults, on probabilities of students that never saw the sample."""
    from cleanlab.filter import (  # pyright: ignore[reportMissingImports] (an extra)
        find_label_issues,
    )
    from cleanlab.rank import (  # pyright: ignore[reportMissingImports] (an extra)
        get_label_quality_scores,
    )

    p, seconds = out_of_sample(cell.under(row), cell.problem)
    start, labels = time.process_time(), cell.problem.train.labels
    quality = get_label_quality_scores(labels, p)
    issues = find_label_issues(labels, p, n_jobs=1)
    return _scores(cell, quality, issues, seconds + time.process_time() - start)


def out_of_sample(config: RunConfig, problem: Problem) -> tuple[NDArray[np.float32], float]:
    """p(k | x) (n, K) of the training samples by five-fold cross-validation, and its seconds."""
    from sklearn.model_selection import StratifiedKFold

    labels, seconds = problem.train.labels, 0.0
    p = np.empty((len(labels), len(problem.class_names)), np.float32)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=config.seed)
    for rest, held in folds.split(np.empty(len(labels)), labels):
        p[held], spent = _fold(config, problem, rest, held)
        seconds += spent
    return p, seconds


def _fold(
    config: RunConfig, problem: Problem, rest: NDArray[Any], held: NDArray[Any]
) -> tuple[NDArray[np.float32], float]:
    """Train on the rest, to the last epoch; what the student then makes of those held out."""
    take = problem.train.take
    part = replace(problem, train=take(rest), test=take(held), true_labels=None)
    shop = Workshop(config, part, method_for(config.method))
    task = shop.task
    assert isinstance(task, Classification), "a RunConfig is of this kind"
    loop = Loop(shop)
    with seeded(config.seed, shop.device):
        loop.run()
    start = time.process_time()
    p = probabilities(task.student, task.test, task.forward).cpu().numpy()
    return p, loop.seconds + time.process_time() - start


def _scores(cell: Cell, quality: NDArray[Any], issues: NDArray[np.bool_], seconds: float) -> Found:
    problem = cell.problem
    assert problem.true_labels is not None, "noise that we planted is known"
    found = detection(problem.train.labels != problem.true_labels, quality, issues)
    if found is None:
        raise UsageError(f"{cell.noise} left all labels right, or all wrong: nothing to detect.")
    scores = {name: float(found[name]) for name in ("wrong", *SCORES)}
    return {**scores, "issues": float(issues.sum()), "seconds": seconds}


Way = Callable[[Cell, str, Path], Found]
WAYS: dict[str, tuple[str, Way]] = {
    "audit": ("deep", _own),
    "plain-loss": ("uniform", _by_loss),
    "cleanlab": ("uniform", _cleanlab),
    "meta-weight-net": ("meta-weight-net", _by_weight),
    "cleanlab-trusted": ("trusted-mixed", _cleanlab),
}
"""The row of the line-up that a way trains under, and what it then does. `cleanlab-trusted` has the
trusted samples in the training of every fold."""
