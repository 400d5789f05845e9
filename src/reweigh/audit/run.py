"""The audit of a finished run: its weights, its student and its data, read from its folder."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reweigh.audit.copies import conflicting_copies
from reweigh.audit.detection import Detection, detection
from reweigh.audit.issues import judged, wrong_per_class
from reweigh.audit.look import Look, look
from reweigh.audit.opened import opened
from reweigh.audit.weights import weight_or_nan, weights_of
from reweigh.config import RunConfig
from reweigh.data.first_few import first_few
from reweigh.data.samples import Problem, Samples
from reweigh.training.kept_result import kept_result
from reweigh.training.run_records import read_metrics

UNEVEN = 10
"""Classes that are this much more frequent than others, by what the trusted samples say. Our choice."""
MUCH_WRONG = 0.25
"""A student that gets more of the trusted samples wrong is no judge of labels. Our choice."""


SHOWN = 5
"""Of the most suspicious labels, in the summary."""


@dataclass(frozen=True)
class Audit:
    """What is to be said of every training label, in the order of the training set."""

    COLUMNS: ClassVar[tuple[str, ...]] = (
        "index", "id", "name", "given_label", "predicted_label", "label_quality", "is_label_issue",
        "weight", "copy_group",
    )  # fmt: skip
    """Of the table, with cleanlab's names."""

    class_names: tuple[str, ...]
    samples: Samples
    true_labels: NDArray[np.int64] | None
    weight: NDArray[np.float32]  # (n,), mean of the last epochs; NaN without
    quality: NDArray[np.float32]  # (n,)
    predicted: NDArray[np.int64]  # (n,)
    is_issue: NDArray[np.bool_]  # (n,)
    noise_matrix: NDArray[np.float64]  # (K, K), rows: given
    copies: list[NDArray[np.int64]]
    detection: Detection | None
    look: Look
    not_judged: dict[str, int]
    """How many samples of the other parts there are."""
    checked: dict[str, int] | None = None
    """How many labels somebody checked, and how many of those were wrong."""
    cautions: tuple[str, ...] = ()
    """What to know before believing a figure."""

    def __len__(self) -> int:
        return len(self.samples)

    def columns(self, part: slice) -> dict[str, NDArray[Any]]:
        """Columns of the table for some labels, by name and in order."""
        samples, classes = self.samples, np.asarray(self.class_names)
        labels = samples.labels[part]
        names = np.full(len(labels), "") if samples.names is None else samples.names[part]
        values = (
            np.arange(len(self))[part], self.called[part], names, classes[labels],
            classes[self.predicted[part]], self.quality[part], self.is_issue[part],
            self.weight[part], self.copy_groups[part],
        )  # fmt: skip
        return dict(zip(self.COLUMNS, values, strict=True))

    @cached_property
    def called(self) -> NDArray[Any]:
        """The ids (n,) by which files of labels name the samples."""
        return self.samples.called()

    @property
    def estimated_wrong(self) -> int:
        """How many labels are wrong, by the noise matrix."""
        return int(wrong_per_class(self.samples.labels, self.noise_matrix).sum())

    @cached_property
    def copy_groups(self) -> NDArray[np.int64]:
        """The number (n,), from 1, of a sample's group of equal inputs with different labels; 0: none."""
        groups = np.zeros(len(self), np.int64)
        for number, group in enumerate(self.copies, start=1):
            groups[group] = number
        return groups

    def ranked_issues(self) -> NDArray[np.int64]:
        """Positions of the issues, the most suspicious first."""
        found = np.flatnonzero(self.is_issue)
        return found[np.argsort(self.quality[found], kind="stable")]

    def worst(self) -> list[dict[str, Any]]:
        """The first of the issues, the most suspicious first: what to look at before all others."""
        wanted = ("id", "given_label", "predicted_label", "label_quality")
        rows = [self.columns(slice(k, k + 1)) for k in self.ranked_issues()[:SHOWN].tolist()]
        return [{name: row[name].tolist()[0] for name in wanted} for row in rows]

    def summary(self) -> dict[str, Any]:
        """For programs: the figures, without the rows."""
        return {
            "samples": len(self),
            "cautions": list(self.cautions),
            "not_judged": self.not_judged,
            "issues": int(self.is_issue.sum()),
            "estimated_wrong": self.estimated_wrong,
            "checked": self.checked,
            "conflicting_copies": [self.called[group].tolist() for group in self.copies],
            "worst": self.worst(),
            "classes": self.class_rows(),
            "noise_matrix": self.noise_matrix.round(4).tolist(),
            "detection": self.detection,
        }

    def class_rows(self) -> list[dict[str, Any]]:
        """One row a class: its size, issues, mean quality, and what it is most often taken for."""
        labels = self.samples.labels
        rows = []
        for k, name in enumerate(self.class_names):
            member = labels == k
            other = np.where(np.arange(len(self.class_names)) == k, -1, self.noise_matrix[k])
            rival = int(other.argmax())
            rows.append(
                {
                    "class": name,
                    "samples": int(member.sum()),
                    "issues": int(self.is_issue[member].sum()),
                    "label_quality": float(self.quality[member].mean()) if member.any() else None,
                    "estimated_wrong_share": float(1 - self.noise_matrix[k, k])
                    if self.look.known[k]
                    else None,  # not judged
                    "most_likely_instead": self.class_names[rival] if other[rival] > 0 else None,
                }
            )
        return rows


def audit_run(folder: Path) -> Audit:
    """Audit the training labels of the run in `folder`; one pass of its student over them."""
    config, problem = opened(folder, RunConfig)
    assert isinstance(problem, Problem)
    seen = look(config, problem, folder)
    found = judge(problem, weights_of(folder, config, problem), seen)
    said = dict.fromkeys((*found.cautions, *of_the_run(folder)))
    return replace(found, cautions=tuple(said))


def of_the_run(folder: Path) -> Iterator[str]:
    """What casts doubt on the student that judges: it hardly learned, or does not know the classes."""
    result = kept_result(folder)
    yield from result.get("cautions", ())
    rows = [row for row in read_metrics(folder) if row.get("epoch") == result.get("best_epoch")]
    wrong = rows[0].get("trusted_error") if rows else None
    if wrong is not None and wrong > MUCH_WRONG:
        yield (
            f"the student itself gets {wrong:.0%} of the trusted samples wrong, so that what it says of "
            "labels, and how many are wrong, is worth little: train longer, or a better student"
        )


def judge(problem: Problem, weights: NDArray[np.float32] | None, seen: Look) -> Audit:
    """The audit of a problem from its weights (epochs, n) and the student's look at it."""
    samples = problem.train
    said = judged(samples.labels, seen.probabilities, seen.known, seen.right)
    quality, matrix, predicted, issue = said
    true, weight = problem.true_labels, weight_or_nan(weights, len(samples))
    return Audit(
        class_names=problem.class_names,
        samples=samples,
        true_labels=true,
        weight=weight,
        quality=quality,
        predicted=predicted,
        is_issue=issue,
        noise_matrix=matrix,
        copies=conflicting_copies(samples.content_hashes(), samples.labels),
        detection=None if true is None else detection(samples.labels != true, quality, issue),
        look=seen,
        not_judged=_not_judged(problem),
        checked=problem.record.get("checked"),
        cautions=(
            *problem.cautions,
            *_unknown(problem, seen.known),
            *(_uneven(problem) if weights is not None else ()),
        ),
    )


def _not_judged(problem: Problem) -> dict[str, int]:
    copies = problem.record.get("copies_of_trusted_dropped", 0)
    parts = {"trusted": len(problem.trusted), "test": len(problem.test)}
    return parts | ({"copies of trusted": copies} if copies else {})


def _unknown(problem: Problem, known: NDArray[np.bool_]) -> Iterator[str]:
    """Classes whose labels are not judged."""
    K = len(problem.class_names)
    given, sure = (np.bincount(s.labels, minlength=K) for s in (problem.train, problem.trusted))
    silent = np.flatnonzero(~known & (given > 0))
    told = [
        f"{problem.class_names[k]!r} ({given[k]:,} labels, {sure[k]:,} trusted)" for k in silent
    ]
    if told:
        yield (
            f"the student does not know {first_few(told, 'classes')}: it finds hardly any of the trusted "
            "samples, so these labels are not judged; train longer, trust more of them, or join classes"
        )


def _uneven(problem: Problem) -> Iterator[str]:
    """Whether the training set is a long tail where the trusted samples are none."""
    K = len(problem.class_names)
    given, trusted = (np.bincount(s.labels, minlength=K) for s in (problem.train, problem.trusted))
    both = (given > 0) & (trusted > 0)
    if not both.any():
        return
    ratio = np.where(both, given / np.maximum(trusted, 1), np.nan)  # (K,)
    most, least = int(np.nanargmax(ratio)), int(np.nanargmin(ratio))
    if ratio[most] > UNEVEN * ratio[least]:
        a, b = problem.class_names[most], problem.class_names[least]
        yield (
            f"{a!r} has {given[most]} training and {trusted[most]} trusted samples, {b!r} {given[least]} and "
            f"{trusted[least]}: the teacher makes up for this imbalance, so right labels of common classes "
            "may be flagged"
        )
