r"""Gold loss correction (Hendrycks et al., NeurIPS 2018): which class is taken for which, measured once.

A first student is trained on the noisy labels; $\hat C_{y\tilde y}$ is the mean of its
$p(\tilde y \mid x)$ over the trusted samples of class y. A second student then learns from

$$ -\log \sum_y \hat C_{y\tilde y}\, p_\theta(y \mid x) \quad\text{and, for trusted samples,}\quad
-\log p_\theta(y \mid x), $$

where trusted samples are repeated until they are a tenth of the stream (our choice, as in every
method that trains on them here: see `in_the_stream`). The strongest neighbour of our own default,
which learns its matrix on the way instead of by a training of its own: a run costs two plain ones.
"""

from typing import Any

import torch
from torch import Tensor

from reweigh.methods.base import Method, P, Setting, Trial
from reweigh.methods.trusted_mixed import in_the_stream
from reweigh.reweigher import Reweigher
from reweigh.student.evaluating import evaluating
from reweigh.student.seen import Seen
from reweigh.teachers.correcting import CorrectingTeacher
from reweigh.typing import Weights

CHUNK = 1000
"""Trusted samples that the first student is asked about at once."""


class MeasuredTeacher(CorrectingTeacher):
    """Weighs all alike under a matrix that stands still."""

    normalise = "count"

    def __init__(self, setting: Setting, matrix: Tensor) -> None:
        super().__init__(setting.classes, setting.logits, trusted_in_stream=True)
        self.matrix.table.copy_(matrix)

    def forward(self, seen: Seen) -> Weights:
        """1, (n,)."""
        return torch.ones_like(seen.losses)


class GoldLossCorrection(Method):
    """One trial training finds Ĉ; the run itself learns under it."""

    learning = False
    matrix: Tensor | None = None
    first: Setting | None = None

    def problem(self, problem: P) -> P:
        """The first student sees the noisy labels alone, the second the trusted samples as well."""
        return problem if self.learning else in_the_stream(problem)

    def prepare(self, trial: Trial) -> None:
        """Train the first student and ask it about the trusted samples."""
        if self.matrix is None:
            self.learning = True
            trial(0)
            assert self.first is not None
            self.matrix = self._asked(self.first)
            self.learning, self.first = False, None

    @torch.no_grad()
    def _asked(self, setting: Setting) -> Tensor:
        """Ĉ, (C, C); a class without trusted samples is taken to be right."""
        x, y = setting.all_trusted()
        sums = torch.zeros(setting.classes, setting.classes, device=y.device)
        with evaluating(setting.student):
            for part, labels in zip(x.split(CHUNK), y.split(CHUNK), strict=True):
                p = setting.logits(setting.student, (part, labels)).softmax(1)  # (n, C)
                sums.index_add_(0, labels, p.to(sums.dtype))
        seen = sums.sum(1, keepdim=True)  # (C, 1): p sums to 1
        return torch.where(seen > 0, sums / seen, torch.eye(len(sums), device=y.device))

    def state_dict(self) -> dict[str, Any]:
        """Ĉ, once it is known."""
        return {} if self.matrix is None else {"matrix": self.matrix}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self.matrix = state.get("matrix")

    def reweigher(self, setting: Setting) -> Reweigher:
        """Plain training of the first student, corrected losses for the second."""
        if self.learning:
            self.first = setting
            return setting.reweigher(None)
        # a dry run has no first student
        matrix = torch.eye(setting.classes) if self.matrix is None else self.matrix
        return setting.reweigher(MeasuredTeacher(setting, matrix))
