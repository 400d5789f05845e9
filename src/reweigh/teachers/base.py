r"""The interface of a teacher: $w = \phi(I, M; \omega)$, one non-negative number per sample."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from reweigh.distributed.gathering import gathered_seen
from reweigh.distributed.group import own_rows, together, total
from reweigh.errors import UnsupportedError, UsageError
from reweigh.student.seen import Seen, Tap
from reweigh.typing import Batch, FindLabels, Losses, PerSampleLoss, TrainingLoss, Weights

if TYPE_CHECKING:
    from reweigh.metagrad.lookahead import Lookahead


class Teacher(nn.Module):
    """Maps what it sees of a batch to one weight per sample.

    A new teacher overrides `forward` and, where it looks inside the student, sets `taps`.
    `normalise` is how raw weights become the batch loss: "sum" (the paper's w̃_k = w_k / Σ_j w_j)
    or "count" (w_k / n, as Meta-Weight-Net has it).
    """

    taps: tuple[Tap, ...] = ()
    average: float = 0.0
    """How much of the student's running average stays at a step, for teachers that look through that
    as well (`Seen.average`); 0: there is none."""
    normalise: str = "sum"
    shapes_loss: bool = False
    """True where `objective` is more than a sum of losses under weights that are free of θ."""

    meta_learned: bool = True
    """False where the teacher's parameters are learned otherwise than by the meta-gradient."""

    judges_batch: bool = False
    """True where a weight or a statistic depends on the other samples of the batch: then it is shown
    the samples of all processes. For teachers that the meta-gradient does not go through."""

    def loss(self, own: PerSampleLoss, labels: FindLabels) -> TrainingLoss:
        """What the student learns from, given the loop's own loss and where a batch's labels are;
        trusted samples keep the own one. One of the teacher's own is called as f(student, batch), and
        with `Seen.average` for a third argument where there is an `average`."""
        return own

    def answers(self, student: nn.Module, batch: Batch) -> Tensor | None:
        """What the student answers, (n, …), by a pass that does nothing more, for teachers that know
        how to ask: their `average` need not compute a loss. None: it is asked for its loss."""
        return None

    def told(self, losses: Losses) -> Losses:
        """The student's losses (n,) as people are told them, where `loss` is made for its gradient."""
        return losses

    def meet(self, labels: Tensor | None) -> None:
        """Called once, before training, with the labels of the first batch, if it has any."""

    def notice(self, seen: Seen) -> None:
        """Called once per training pass, before `forward`: for teachers that keep statistics.

        Where the teacher learns by the meta-gradient, what `forward` reads may change in
        `notice_trusted` and `settle` only: steps are gone back over with the weights that they were
        taken with.
        """

    def settle(self) -> None:
        """Called every few steps while no recorded step waits to be gone back over: what `forward`
        reads may follow what was noticed, however far apart the lessons are. Where every step is
        recorded (B = K, or every=None) that is after a lesson only."""

    def notice_trusted(self, seen: Seen) -> None:
        """Called after every update, or every K steps where nothing is learned, with what the
        student saw of the trusted batch."""

    def look_ahead(self, ahead: "Lookahead") -> None:
        """With `lookahead`, called before every K-th step: learn through a virtual one."""
        ahead.teach()

    def forward(self, seen: Seen) -> Weights:
        """Raw weights, (n,), non-negative and not yet normalised."""
        raise NotImplementedError

    def objective(self, seen: Seen) -> Tensor:
        r"""The student's loss $\tilde w^\top \ell$ with ∂w/∂θ alive (deeper interaction)."""
        return (normalised(self(seen), self.normalise) * seen.losses).sum()


def own_precision(seen: Seen) -> torch.autocast:
    """For all that a teacher computes: whatever autocast the student runs under is off."""
    return torch.autocast(seen.losses.device.type, enabled=False)


def weigh(teacher: Teacher, seen: Seen) -> Weights:
    """Raw weights in the teacher's own precision, (n,)."""
    with own_precision(seen):
        if teacher.judges_batch and together():
            return own_rows(teacher(gathered_seen(seen)), len(seen.losses))
        return teacher(seen)


def objective(teacher: Teacher, seen: Seen) -> Tensor:
    """The student's loss as the teacher makes it, (), in the precision of `weigh`."""
    with own_precision(seen):
        return teacher.objective(seen)


def normalised(w: Weights, kind: str) -> Weights:
    """The weights of a batch as they multiply its losses, whatever process holds which of them."""
    n = torch.full((), len(w), dtype=w.dtype, device=w.device)
    return w / divisor(total(n if kind == "count" else w.sum()))


def divisor(whole: Tensor) -> Tensor:
    """A sum as something to divide by: 1 for 0, so that a batch of all zeros keeps its zeros."""
    return whole + (whole == 0).to(whole.dtype)


def show(teacher: Teacher, seen: Seen) -> None:
    """`notice`, of a training pass."""
    with own_precision(seen):
        teacher.notice(gathered_seen(seen) if teacher.judges_batch else seen)


def show_trusted(teacher: Teacher, seen: Seen) -> None:
    """`notice_trusted`, of all processes' trusted samples."""
    with own_precision(seen):
        teacher.notice_trusted(gathered_seen(seen))


def learned_by(teacher: Teacher) -> dict[str, nn.Parameter]:
    """What the meta-gradient moves, by name and in this order."""
    named = teacher.named_parameters() if teacher.meta_learned else ()
    return {name: p for name, p in named if p.requires_grad}


def listens(teacher: Teacher) -> bool:
    """Whether it keeps statistics of trusted batches, which are then shown to it as it learns."""
    return type(teacher).notice_trusted is not Teacher.notice_trusted


def check_teacher(teacher: Teacher) -> None:
    """Refuse, before training, a teacher whose weights could not be found again in a replay."""
    if teacher.normalise not in ("sum", "count"):
        raise UsageError(f"normalise must be 'sum' or 'count', not {teacher.normalise!r}")
    if not 0 <= teacher.average < 1:
        raise UsageError(
            "average must be at least 0 (no average) and below 1 (one that never moves), not "
            f"{teacher.average}"
        )
    for module in teacher.modules() if teacher.meta_learned else ():
        if isinstance(module, nn.modules.batchnorm._BatchNorm | nn.modules.dropout._DropoutNd):
            raise UnsupportedError(
                f"a teacher with {type(module).__name__} gives other weights each time it is asked, "
                "so its gradient would be that of other weights: leave that layer out"
            )
