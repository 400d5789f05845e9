"""Control: training on the trusted set alone, for as many steps as everybody else."""

from reweigh.methods.base import P
from reweigh.methods.uniform import Uniform


class TrustedOnly(Uniform):
    """What the trusted samples are worth by themselves: a method must beat it to be of use."""

    def problem(self, problem: P) -> P:
        """The trusted samples in place of the training set."""
        return problem.trusted_alone()
