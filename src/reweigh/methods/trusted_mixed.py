"""Control: the trusted samples mixed into the training set, all weighing the same."""

from dataclasses import replace

import numpy as np

from reweigh.data.samples import Problem, Samples
from reweigh.methods.uniform import Uniform


def mixed(problem: Problem, copies: int = 1) -> Problem:
    """Training samples, then the trusted ones `copies` times, as a training set."""
    a, b = problem.train, problem.trusted
    b = b.take(np.tile(np.arange(len(b)), copies))
    both = Samples(
        inputs=np.concatenate([a.inputs, b.inputs]),
        labels=np.concatenate([a.labels, b.labels]),
        ids=np.concatenate([a.ids, b.ids]),
    )
    known = problem.true_labels
    true = None if known is None else np.concatenate([known, b.labels])
    return replace(problem, train=both, true_labels=true)


class TrustedMixed(Uniform):
    """What the trusted samples are worth as more training data."""

    def problem(self, problem: Problem) -> Problem:
        """Training and trusted samples, in as many steps as the training set alone."""
        return mixed(problem)
