r"""The posterior teacher: how likely is the given label the true one?

With the predictions p̄ of the student's running average (see `average`) and the noise matrix T (see
`noise_matrix`), the posterior of a class is $q_y \propto T_{y\tilde y}\, \bar p_y$, and

$$ w = \sigma(c\,(2q_{\tilde y} - 1) + 2 b_{\tilde y}), $$

where c and b are learned by the meta-gradient. An optimizer that moves all of them alike moves a class's
part twice as far as c, which every sample tells something about and which would wander otherwise. The
student learns towards q, from the bound $\sum_y q_y \log(q_y / T_{y\tilde y}\, p_y)$ of the corrected
loss: expectation-maximisation, whose expectation is taken by the average and whose maximisation is the
student's steps. A corrected loss already puts a wrong label's share where it belongs; the weights then
say how much there is to learn from a sample. The prior ratio of σ(c) to σ(−c), 2.7 at c = 1, is mild for
that reason. A corrected loss moves the student less than a right label would; `step_length` makes up for
it. Beyond the paper.
"""

import logging
from collections.abc import Callable

import torch
from torch import Tensor, nn

from reweigh.distributed.group import any_of
from reweigh.errors import UsageError
from reweigh.student.batch import outputs
from reweigh.student.seen import Seen, States, Tap
from reweigh.teachers.correcting import CorrectingTeacher
from reweigh.teachers.features import labels_of
from reweigh.teachers.noise_matrix import ENOUGH
from reweigh.teachers.step_length import StepLength
from reweigh.typing import Batch, FindLabels, Losses, PerSampleLoss, TrainingLoss, Weights

log = logging.getLogger("reweigh")

AVERAGE = 0.9
"""How much of the student's running average stays at a step. Our choice."""


class PosteriorTeacher(CorrectingTeacher):
    """σ(c·(2q − 1) + 2b_ỹ).

    Logits are what the student answers; one that answers with more names the `layer` whose output
    they are. `logits(student, batch)` gives them for batches that are not (x, y). Trusted samples
    may be in the stream too, which is worth a lot: with `trusted_in_stream`, batches are
    (x, y, trusted), the third a bool tensor that says which they are, or have a member of that
    name. Without it all labels are in doubt. `average` is how much of the student's running average
    stays at a step; with 0 the student judges by its own predictions, which is better where it
    memorises: where 20 epochs or more go over samples that nothing augments.
    """

    def __init__(
        self,
        *,
        num_classes: int,
        layer: str = "",
        logits: Callable[[nn.Module, Batch], Tensor] = outputs,
        trusted_in_stream: bool = False,
        average: float = AVERAGE,
        scale: float = 1.0,
    ) -> None:
        super().__init__(num_classes, logits, trusted_in_stream)
        self.scale = nn.Parameter(torch.tensor(float(scale)))
        self.bias = nn.Parameter(torch.zeros(num_classes))
        self.length, self.average = StepLength(), average
        self._tap = Tap(layer, "output")
        self.taps = (self._tap,)
        self._compared = False
        self._trusted_seen = 0

    def corrected(self, student: nn.Module, batch: Batch, by: Tensor | None = None) -> Losses:
        """√(a/b) times the corrected loss, (n,), for steps as long as under right labels."""
        return self.length.value * super().corrected(student, batch, by)

    def loss(self, own: PerSampleLoss, labels: FindLabels) -> TrainingLoss:
        """The corrected loss, or its bound by what the average student answered."""
        corrected, key = super().loss(own, labels), self._tap.key

        def towards(student: nn.Module, batch: Batch, average: States | None = None) -> Losses:
            return corrected(student, batch, None if average is None else average[key])

        return towards

    def told(self, losses: Losses) -> Losses:
        """Without √(a/b), which changes on the way."""
        return losses / self.length.value

    def notice(self, seen: Seen) -> None:
        """Learn which class is taken for which, from the samples in doubt."""
        if not self._compared:
            self._compare(seen)
        logits, y, sure = self._logits(seen), labels_of(seen), self._sure(seen)
        self.matrix.notice(logits, y, sure)
        p = self.matrix.judged(logits, y, sure).p.to(self.scale.dtype)
        self.length.notice(p, self.matrix.table, sure)

    def notice_trusted(self, seen: Seen) -> None:
        """Which classes somebody speaks for; then matrix and length may move."""
        if seen.labels is not None:  # a measure of one's own may need none
            self.matrix.notice_trusted(labels_of(seen, len(self.bias)))
            self._tell_of_unspoken(len(seen.losses))
        self.settle()

    def settle(self) -> None:
        """Matrix and length follow what was noticed."""
        self.matrix.refresh()
        self.length.refresh()

    def quality(self, seen: Seen) -> Tensor:
        """q of the given label, (n,), 1 for trusted samples."""
        y = labels_of(seen)
        q = self.matrix.posterior(self._logits(seen), y, self._sure(seen))  # (n, C)
        return q.gather(1, y[:, None]).squeeze(1).to(self.scale.dtype)

    def forward(self, seen: Seen) -> Weights:
        """σ(c·(2q − 1) + 2b_ỹ), (n,)."""
        surely, leaning = 2 * self.quality(seen) - 1, self._b()[labels_of(seen)]  # (n,)
        return (self.scale * surely + 2 * leaning).sigmoid()

    def _b(self) -> Tensor:
        """b, (C,); the others' mean for classes that no trusted sample speaks for: nothing learned
        from trusted samples is about them."""
        unspoken = self.matrix.unspoken()
        if unspoken is None:
            return self.bias
        others = self.bias.detach() * ~unspoken
        return torch.where(unspoken, others.sum() / (~unspoken).sum().clamp_min(1), self.bias)

    def _compare(self, seen: Seen) -> None:
        """Once: are what the layer gives and what the student is asked for the same logits?"""
        logits, by = seen.states[self._tap.key], self._logits(seen)
        own = self.matrix.losses(logits, labels_of(seen), self._sure(seen), by)
        told = self.told(seen.losses)
        off = (own - told).abs() > 0.05 * (1 + own.abs())  # wide enough for bfloat16
        if any_of(bool((off & own.isfinite() & seen.losses.isfinite()).any())):
            raise UsageError(
                f"the output of {self._tap.place} is not the logits that the loss is taken "
                "from: name the student's last layer, or give logits= that returns its output"
            )
        self._compared = True

    def _tell_of_unspoken(self, more: int) -> None:
        """Once, when enough trusted samples were seen: which classes have none?"""
        before, self._trusted_seen = self._trusted_seen, self._trusted_seen + more
        if not before < ENOUGH * len(self.bias) <= self._trusted_seen:
            return
        if (unspoken := self.matrix.unspoken()) is not None:
            none = unspoken.nonzero().flatten().tolist()
            log.warning(
                "no trusted sample is of class %s: its labels are taken to be right; add trusted samples "
                "of every class",
                ", ".join(map(str, none[:10])),
            )

    def _logits(self, seen: Seen) -> Tensor:
        """Those to judge by: the average student's, where there is one."""
        states = seen.states if seen.average is None else seen.average
        return states[self._tap.key]  # (n, C)

    def _sure(self, seen: Seen) -> Tensor | None:
        return self.sure(seen.trusted, len(seen.losses))
