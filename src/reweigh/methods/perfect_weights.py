"""Ceiling of any reweighting: 1 for a right label, 0 for a wrong one."""

from torch import Tensor

from reweigh.errors import UsageError
from reweigh.methods.base import TRUTH, Method, Setting
from reweigh.reweigher import Reweigher
from reweigh.student.seen import Seen
from reweigh.teachers import Teacher
from reweigh.typing import Weights


class _Oracle(Teacher):
    """Knows which labels are right."""

    def __init__(self, right: Tensor) -> None:
        super().__init__()
        self.register_buffer("right", right.float())  # (N,)
        self.right: Tensor

    def forward(self, seen: Seen) -> Weights:
        """1 or 0, (n,)."""
        assert seen.ids is not None
        return self.right[seen.ids]


class PerfectWeights(Method):
    """What the best possible weights would give."""

    def reweigher(self, setting: Setting) -> Reweigher:
        """The weights of someone who knows."""
        if setting.right is None:
            raise UsageError(f"{self.config.name} {TRUTH}")
        return setting.reweigher(_Oracle(setting.right))
