"""Control: training on the trusted set alone, for as many steps as everybody else."""

from dataclasses import replace

from reweigh.data.samples import Problem
from reweigh.methods.uniform import Uniform


class TrustedOnly(Uniform):
    """What the trusted samples are worth by themselves: a method must beat it to be of use."""

    def problem(self, problem: Problem) -> Problem:
        """The trusted samples in place of the training set; their labels are right."""
        trusted = problem.trusted
        return replace(problem, train=trusted, true_labels=None)
