"""The second pass: train again without the labels that look wrong, or with others in their place.

Everything else stays: data, split, noise, student, schedule, seed, method. So the two runs differ by
what the audit found alone. Whether that helped is to be told by the trusted set; the test errors are
shown, and no choice rests on them. What was changed is a file in the first run's folder, and the
second run is a run like any other, in a folder beside it: it can be resumed, audited, reported.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from math import sqrt
from pathlib import Path
from shlex import quote
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reweigh.audit.paired import Paired, paired
from reweigh.audit.run import Audit
from reweigh.config import RunConfig
from reweigh.config.methods import trains_on_trusted
from reweigh.config.writing import plain_values
from reweigh.data.corrections import in_doubt
from reweigh.data.samples import Problem, Samples, joined
from reweigh.data.table_file import write_columns
from reweigh.errors import InterruptedRun, UsageError
from reweigh.training.progress import Progress
from reweigh.training.result import ErrorResult
from reweigh.training.run import begin_or_go_on, resume, settings_of
from reweigh.training.tasks import prepared
from reweigh.training.whereabouts import with_data_found

How = Literal["drop", "relabel"]
NO_VERDICT = (
    "the trusted samples cannot tell whether a second pass helps: this method trains on them; train "
    "the first run with method.trusted_share = 0 to find out"
)


@dataclass(frozen=True)
class SecondPass:
    """What both runs came to."""

    how: How
    changed: int
    before: ErrorResult
    after: ErrorResult
    trusted: int
    """How many trusted samples there are."""
    test: Paired
    trained_on: bool = False
    """Whether the method trains on the trusted samples."""

    def verdict(self) -> str:
        """By the trusted set."""
        a, b = self.before.trusted_error_last, self.after.trusted_error_last
        if self.trained_on:
            return f"The trusted error went from {a:.2%} to {b:.2%}, but {NO_VERDICT}."
        word = "helped" if b < a else "did not help" if b > a else "made no difference"
        told = f"By the trusted samples it {word}: their error went from {a:.2%} to {b:.2%}"
        moved = round(abs(a - b) * self.trusted)
        if 0 < moved < 2 * sqrt((a + b) * self.trusted):  # the deviation, if no answer went along
            told += f", {moved} of {self.trusted} samples, which may be chance"
        return f"{told}."

    def outcome(self) -> dict[str, Any]:
        """For programs."""
        runs = {"before": asdict(self.before), "after": asdict(self.after)}
        said = {"verdict": self.verdict(), "test_answers": asdict(self.test)}
        return {"how": self.how, "changed": self.changed, **runs, **said}


def second_pass(
    folder: Path, audit: Audit, how: How, progress: Progress, command: Sequence[str]
) -> SecondPass:
    """Train on what the audit of `folder` leaves or corrects; a pass that was begun goes on."""
    config = settings_of(folder)
    if not isinstance(config, RunConfig):
        raise UsageError(f"{folder} was not trained on labels; a second pass needs such a run.")
    config = with_data_found(config, folder)
    changed = int(audit.is_issue.sum())
    if not changed:
        raise UsageError(f"No label of {folder} looks wrong: a second pass would be the first.")
    trained_on = trains_on_trusted(plain_values(config.method))
    if trained_on:
        progress.note(f"remark: {NO_VERDICT}")
    second = (
        _dropping(config, folder, audit) if how == "drop" else _relabelled(config, folder, audit)
    )
    home = home_of(folder, how)
    with _way_on(folder, how, home):
        after = begin_or_go_on(second, home, progress, command, allow_drift=False)
    before = resume(folder, progress)
    assert isinstance(before, ErrorResult), "a RunConfig has errors"
    assert isinstance(after, ErrorResult), "a RunConfig has errors"
    answers = paired(config, folder, home)
    return SecondPass(how, changed, before, after, audit.not_judged["trusted"], answers, trained_on)


@contextmanager
def _way_on(folder: Path, how: How, home: Path) -> Iterator[None]:
    """Who stops the pass goes on by the audit: resuming the run alone would tell no verdict."""
    try:
        yield
    except InterruptedRun:
        there = (home / "config.toml").is_file()
        done = f"Stopped and saved in {home}" if there else "Stopped before anything was written"
        way = f"reweigh audit {quote(str(folder))} --second-pass {how}"
        raise InterruptedRun(f"{done}. Continue with: {way}") from None


def home_of(folder: Path, how: How) -> Path:
    """The second run's folder, beside the first."""
    named = folder if folder.name not in ("", "..") else folder.resolve()
    return named.with_name(f"{named.name}-{how}")


def _dropping(config: RunConfig, folder: Path, audit: Audit) -> RunConfig:
    """Without the issues."""
    if config.data.drop is not None:
        raise UsageError(
            f"{folder} leaves out the samples of {config.data.drop} already; audit the run before it."
        )
    file = folder.resolve() / "second-pass-drop.csv"
    _write(_named(audit.samples, np.flatnonzero(audit.is_issue)), file)
    return _with_data(config, drop=str(file))


def _relabelled(config: RunConfig, folder: Path, audit: Audit) -> RunConfig:
    """Under the suggested labels where there are issues; noise is in the labels, so none is planted.

    Where it was planted into the data's own labels, those are the truth. The file takes the place of the
    run's own labels, and so tells those of test samples, too, where that file corrected some.
    """
    file = folder.resolve() / "second-pass-relabel.csv"
    samples = audit.samples
    labels = np.where(audit.is_issue, audit.predicted, samples.labels)  # (n,)
    if (test := _corrected_test(config)) is not None:
        samples, labels = joined(samples, test), np.concatenate([labels, test.labels])
    names, everyone = np.asarray(_written(audit.class_names)), np.arange(len(labels))
    _write(_named(samples, everyone) | {"label": names[labels]}, file)
    data = config.data
    ours = data.noise != "none" and data.labels is None
    truth = "original" if ours else data.true_labels
    return _with_data(config, labels=str(file), noise="none", true_labels=truth)


def _corrected_test(config: RunConfig) -> Samples | None:
    """The test samples, where the run's file of labels may have corrected some."""
    if config.data.labels is None or config.data.true_labels == "original":
        return None
    problem = prepared(config)
    assert isinstance(problem, Problem), "a RunConfig has samples"
    return problem.test if in_doubt(config.data.name, problem.record["split"]) else None


def _named(samples: Samples, some: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """What a file calls these samples; an empty `name` says that ids are numbers, as in `audit.csv`."""
    called = samples.called()
    nameless = {} if called is samples.names else {"name": np.full(len(some), "")}
    return {"id": called[some], **nameless}


def _written(class_names: tuple[str, ...]) -> tuple[str, ...]:
    """Classes as a file of labels can hold them: by name where every name survives, else numbers."""
    if all(name == name.strip() and name.isprintable() for name in class_names):
        return class_names
    return tuple(str(k) for k in range(len(class_names)))


def _with_data(config: RunConfig, **changes: Any) -> RunConfig:
    return config.model_copy(update={"data": config.data.model_copy(update=changes)})


def _write(columns: dict[str, NDArray[Any]], file: Path) -> None:
    """As every table of ours, which a spreadsheet opens without running it."""
    size = len(columns["id"])
    write_columns(lambda part: {name: cells[part] for name, cells in columns.items()}, size, file)
