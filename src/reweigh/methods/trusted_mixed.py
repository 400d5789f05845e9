"""Control: the trusted samples mixed into the training set.

Each sample of the stream weighs the same, but a trusted one is in it several times: as often as makes
trusted samples a tenth of the stream, or once where they are more than that. So a trusted sample
counts for several others, here as in every method that trains on trusted samples.
"""

from reweigh.config.methods.one import TRUSTED_SHARE
from reweigh.methods.base import P
from reweigh.methods.uniform import Uniform


class TrustedMixed(Uniform):
    """What the trusted samples are worth as more training data."""

    def problem(self, problem: P) -> P:
        """Training and trusted samples, in as many steps as the training set alone."""
        return in_the_stream(problem)


def in_the_stream(problem: P, share: float = TRUSTED_SHARE) -> P:
    """The trusted samples as often among the training samples as makes them about that share."""
    n, m = len(problem.train), len(problem.trusted)
    return problem.with_trusted(max(1, round(share * n / ((1 - share) * m))))
