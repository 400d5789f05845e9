r"""Class-balanced loss (Cui et al., CVPR 2019): rare classes weigh more, by how many samples count.

$$ w_y = \frac{1 - \beta}{1 - \beta^{n_y}}, \qquad \sum_y w_y = C $$

$n_y$ is how often label y stands in the training set; $(1 - \beta^{n})/(1 - \beta)$ is the number of
samples that still tell something new. β = 0 is plain training, β → 1 weighs by inverse frequency.
Divided by n, as published. It knows nothing of wrong labels: the baseline for long tails.
"""

import torch
from torch import Tensor

from reweigh.data.samples import Problem
from reweigh.errors import UsageError
from reweigh.methods.base import Method, P, Setting
from reweigh.reweigher import Reweigher
from reweigh.student.seen import Seen
from reweigh.teachers import Teacher
from reweigh.typing import Weights


class ClassTeacher(Teacher):
    """One weight a class, which stands still."""

    normalise = "count"

    def __init__(self, weights: Tensor) -> None:
        super().__init__()
        self.register_buffer("weights", weights)  # (C,)
        self.weights: Tensor

    def forward(self, seen: Seen) -> Weights:
        """w_y of each label, (n,)."""
        assert seen.labels is not None
        return self.weights[seen.labels]


class ClassBalanced(Method):
    """Counts labels before the run."""

    counts: Tensor | None = None

    def problem(self, problem: P) -> P:
        """As it is; its labels are counted."""
        if not isinstance(problem, Problem):
            raise UsageError("class-balanced counts class labels, and this task has none")
        labels = torch.from_numpy(problem.train.labels)
        self.counts = torch.bincount(labels, minlength=len(problem.class_names))
        return problem

    def reweigher(self, setting: Setting) -> Reweigher:
        """The weights of the classes, for good."""
        assert self.counts is not None, "problem() comes first"
        weights = effective_weights(self.counts, self.config.beta)
        return setting.reweigher(ClassTeacher(weights.to(next(setting.student.parameters()))))


def effective_weights(counts: Tensor, beta: float) -> Tensor:
    """w of C counts, C on the whole; of a class without samples 0, (C,) float64."""
    n = counts.double()
    w = torch.where(n > 0, (1 - beta) / (1 - beta**n), 0.0)  # 1/0 of no sample is never looked at
    return w * len(w) / w.sum()
