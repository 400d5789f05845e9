"""Control: the trusted samples mixed into the training set, all weighing the same."""

from reweigh.methods.base import P
from reweigh.methods.uniform import Uniform


class TrustedMixed(Uniform):
    """What the trusted samples are worth as more training data."""

    def problem(self, problem: P) -> P:
        """Training and trusted samples, in as many steps as the training set alone."""
        return problem.with_trusted()
