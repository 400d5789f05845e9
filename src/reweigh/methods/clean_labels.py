"""Ceiling of all methods: plain training on the true labels, where the noise was planted by us."""

from dataclasses import replace

from reweigh.data.samples import Problem
from reweigh.errors import UsageError
from reweigh.methods.uniform import Uniform


class CleanLabels(Uniform):
    """What training would give had nobody made a mistake."""

    def problem(self, problem: Problem) -> Problem:
        """The training set with its labels put right."""
        if problem.true_labels is None:
            raise UsageError(
                "clean-labels needs the true labels, which are known only where the noise was "
                "planted: give data.noise, or data.true_labels = 'original'"
            )
        return replace(problem, train=problem.train.with_labels(problem.true_labels))
