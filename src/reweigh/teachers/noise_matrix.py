r"""Which class is taken for which: the matrix $T_{y\tilde y} = p(\tilde y \mid y)$, learned on the way.

A given label ỹ is what noise made of the true one, so that the student explains it with probability

$$ p(\tilde y \mid x) = \sum_y T_{y \tilde y}\, p_\theta(y \mid x), $$

and its loss is −log of that: forward correction (Patrini et al. 2017). What each class has to do
with the given label is the posterior $q_y \propto T_{y\tilde y}\, p_\theta(y \mid x)$, and the
gradient of the corrected loss is that of cross-entropy with q as soft label: a weight for every
*label* of a sample, not for the sample alone.

T is not known. Averaging the posteriors is one step of expectation-maximisation towards the T
that makes the given labels likeliest; trusted samples of the stream, whose label is sure, hold it in
its place. Without them (`alone`) a rare class that overlaps a common one would be explained away as
the other's noise, and the student, never asked for it again, would agree. Two things stand against
it: T starts from wrong labels that come in the shares of the given ones, not all alike, and the own
label of a class is never rarer than another one.

Nobody speaks for a class of which no sample is trusted, and it would be explained away in the same
manner. Its labels are taken to be right, and those of others not to be meant for it.
"""

from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from reweigh.distributed.group import total
from reweigh.errors import UsageError
from reweigh.student.batch import check_classes, refuse_strange
from reweigh.teachers.remembered import Remembered

PER_CLASS = 640
"""How many samples per class the running mean of posteriors remembers. Our choice."""
START = 0.5
"""The first share of labels taken to be right beside chance. Our choice."""
ENOUGH = 20
"""Trusted samples per class after which one that was not among them is taken to have none. Our choice."""


class Judged(NamedTuple):
    """What somebody's answers say of a batch, given its labels."""

    p: Tensor  # (n, C): the answers
    q: Tensor  # (n, C): the posterior, how likely each class is the true one
    rest: Tensor  # (n,): Σ_y q_y log(q_y / T_yỹ), what a bound by them has beside the learner's own part


class NoiseMatrix(nn.Module):
    """T, and what follows from it for a batch of logits (n, C) and given labels (n,).

    `table` stands still until `refresh`, so that steps that are differentiated through see one matrix.
    """

    def __init__(self, num_classes: int, *, alone: bool = False) -> None:
        super().__init__()
        first = START * torch.eye(num_classes) + (1 - START) / num_classes
        self.alone, self._checked = alone, False
        self._judged: Remembered[Judged] = Remembered()
        self._logarithms: Remembered[Tensor] = Remembered()
        self._unspoken: Remembered[Tensor | None] = Remembered()
        self.table: Tensor
        self.joint: Tensor
        self.begun: Tensor
        self.trusted: Tensor
        self.register_buffer("begun", torch.zeros((), dtype=torch.bool))
        self.register_buffer("table", first)  # (C, C): T[y, ỹ]
        self.register_buffer("joint", first / num_classes)  # (C, C): running mean of q by ỹ
        self.register_buffer("trusted", torch.zeros(num_classes))  # (C,): samples seen

    def losses(
        self,
        logits: Tensor,
        given: Tensor,
        sure: Tensor | None = None,
        by: Tensor | None = None,
    ) -> Tensor:
        """−log Σ_y T_yỹ p_y, (n,); plain cross-entropy where a label is `sure` (n,).

        With the logits of somebody else, `by` (n, C), it is bounded from above by
        Σ_y q_y log(q_y / T_yỹ p_y), where q is that one's posterior; equal where both answer alike.
        """
        self._check(logits, given)
        log_p = self._log_p(logits)  # (n, C)
        if by is None:
            return -(log_p + self._log_taken(given, sure)).logsumexp(1)
        judged = self.judged(by.detach() if by.requires_grad else by, given, sure)
        q, rest = judged.q.to(log_p.dtype), judged.rest.to(log_p.dtype)
        return rest - _products(q, log_p)

    def posterior(self, logits: Tensor, given: Tensor, sure: Tensor | None = None) -> Tensor:
        """q, (n, C): how likely each class is the true one, given the student and the label."""
        return self.judged(logits, given, sure).q

    def judged(self, logits: Tensor, given: Tensor, sure: Tensor | None = None) -> Judged:
        """All that follows from these answers; asked again about the same ones, it is not done again."""
        make = partial(self._judge, logits, given, sure)
        return self._judged.of(logits, given, sure, self.table, make=make)

    def _judge(self, logits: Tensor, given: Tensor, sure: Tensor | None) -> Judged:
        self._check(logits, given)
        log_p, log_taken = self._log_p(logits), self._log_taken(given, sure)  # (n, C)
        log_q = (log_p + log_taken).log_softmax(1)
        q = log_q.exp()
        return Judged(log_p.exp(), q, _products(q, log_q - log_taken))

    def _log_p(self, logits: Tensor) -> Tensor:
        """(n, C), in the matrix's precision at least, as cross-entropy does it."""
        return logits.to(torch.promote_types(logits.dtype, self.table.dtype)).log_softmax(1)

    def _log_taken(self, given: Tensor, sure: Tensor | None) -> Tensor:
        """log T_yỹ of each label ỹ, (n, C), and 0 for the own class alone where a label is `sure`."""
        rows = given if sure is None else given + len(self.table) * sure  # (n,)
        return self._logarithms.of(self.table, make=self._rows).index_select(0, rows)

    def _rows(self) -> Tensor:
        """(2C, C): log T_yỹ by ỹ, then the same as if labels were right."""
        right = torch.eye(len(self.table), dtype=self.table.dtype, device=self.table.device)
        return torch.cat([self.table.T.clamp_min(1e-8), right.clamp_min(1e-13)]).log()

    def _check(self, logits: Tensor, given: Tensor) -> None:
        """Refuse what is no answer over these classes; labels are looked at in the first batch."""
        classes = len(self.table)
        if logits.ndim != 2 or logits.shape[1] != classes:
            raise UsageError(
                f"logits over {classes} classes are needed, but the layer gives "
                f"{tuple(logits.shape)}: name the student's last layer, and the right num_classes"
            )
        check_classes(given, classes)
        if not self._checked and len(given):
            refuse_strange(given, classes)
            self._checked = True

    @torch.no_grad()
    def notice(self, logits: Tensor, given: Tensor, sure: Tensor | None = None) -> None:
        """Add the posteriors of samples that are not `sure` to the running mean, over all processes."""
        q = self.posterior(logits, given, sure).to(self.joint.dtype)  # (n, C)
        if sure is not None:
            q = q * ~sure[:, None]  # and not q[~sure], for which a GPU would be waited for
        eye = torch.eye(len(self.joint), dtype=q.dtype, device=q.device)
        called = eye.index_select(0, given)  # (n, C)
        fresh = total(q.T @ called)  # (C, C); index_add_ adds in any order on a GPU
        n = fresh.sum()
        rate = (n / (PER_CLASS * len(fresh))).clamp(max=0.5)
        self.joint.lerp_(fresh / n.clamp_min(1.0), rate * (n > 0))

    @torch.no_grad()
    def notice_trusted(self, right: Tensor) -> None:
        """Count the classes of trusted samples (n,)."""
        self.trusted.add_(F.one_hot(right, len(self.trusted)).sum(0))

    def unspoken(self) -> Tensor | None:
        """Classes without any trusted sample, (C,) bool, once enough have been seen to say so; None
        where there is no such class. Found out once an update, since a GPU is waited for."""
        return self._unspoken.of(self.trusted, make=self._without_trusted)

    def _without_trusted(self) -> Tensor | None:
        none = (self.trusted == 0) & (self.trusted.sum() >= ENOUGH * len(self.trusted))
        return none if bool(none.any()) else None

    @torch.no_grad()
    def refresh(self) -> None:
        """Let `table` follow what was noticed: T_yỹ = mean q_y 1[ỹ] / mean q_y."""
        table = self.joint / self.joint.sum(1, keepdim=True).clamp_min(1e-12)
        if (unspoken := self.unspoken()) is not None:
            table = _left_alone(table, unspoken)
        self.table.copy_(_led(table) if self.alone else table)

    @torch.no_grad()
    def begin(self, given: Tensor) -> None:
        """On the first batch, if alone: T_yỹ = s·[y = ỹ] + (1 − s)·π_ỹ, s = START, π the labels' shares."""
        if not self.alone:
            return
        refuse_strange(given, len(self.table))
        ones = torch.ones_like(given, dtype=self.joint.dtype)
        counts = total(torch.zeros_like(self.joint[0]).index_add_(0, given, ones)) + 1  # (C,)
        shares = counts / counts.sum()
        first = START * torch.eye(len(shares)).to(shares) + (1 - START) * shares  # (C, C)
        self.joint.copy_(torch.where(self.begun, self.joint, shares[:, None] * first))
        self.table.copy_(torch.where(self.begun, self.table, first))
        self.begun.fill_(True)


def _products(q: Tensor, log_p: Tensor) -> Tensor:
    """Σ_y q_y log p_y, (n,), where −inf is a class ruled out."""
    return (q * torch.where(q > 0, log_p, 0.0)).sum(1)


def _left_alone(table: Tensor, some: Tensor) -> Tensor:
    """T with `some` classes (C,) neither taken for others nor others for them."""
    eye = torch.eye(len(table), dtype=table.dtype, device=table.device)
    among = table.masked_fill(some | some[:, None], 0.0)
    among = among / among.sum(1, keepdim=True).clamp_min(1e-12)
    return torch.where(some[:, None], eye, among)


def _led(table: Tensor) -> Tensor:
    """Rows mixed with the identity just as far as needed for T_yy ≥ T_yỹ."""
    own = table.diagonal()  # (C,)
    eye = torch.eye(len(table), dtype=table.dtype, device=table.device)
    first = (table - 2 * eye).amax(1)  # (C,): the largest of the others
    lack = (first - own).clamp_min(0)  # (C,)
    return torch.lerp(table, eye, (lack / (1 + lack))[:, None])
