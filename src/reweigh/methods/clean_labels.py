"""Ceiling of all methods: plain training on the true labels, where the noise was planted by us."""

from reweigh.errors import UsageError
from reweigh.methods.base import TRUTH, P
from reweigh.methods.uniform import Uniform


class CleanLabels(Uniform):
    """What training would give had nobody made a mistake."""

    def problem(self, problem: P) -> P:
        """The training set with its labels put right."""
        right = problem.put_right()
        if right is None:
            raise UsageError(f"{self.config.name} {TRUTH}")
        return right
