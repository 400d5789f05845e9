"""Ceiling of any reweighting that trains on the trusted samples as well: perfect weights for all."""

from reweigh.methods.base import P
from reweigh.methods.perfect_weights import PerfectWeights
from reweigh.methods.trusted_mixed import in_the_stream


class PerfectMixed(PerfectWeights):
    """1 for a right label and for a trusted sample, 0 for a wrong label."""

    def problem(self, problem: P) -> P:
        """Training and trusted samples."""
        return in_the_stream(problem)
