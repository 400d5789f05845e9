r"""One pass over a batch: the student looks, the teacher weighs, the loss is $\tilde w^\top\ell$.

A pass that the teacher will go back over is recorded on the way.
"""

import logging
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import torch
from torch import Tensor

from reweigh.distributed.gradients import Gradients
from reweigh.distributed.group import rank
from reweigh.metagrad.engine import Engine
from reweigh.metagrad.steps import Pass
from reweigh.stepping.figures import Figures
from reweigh.stepping.guards import check_loss, check_weights
from reweigh.stepping.lessons import Lessons
from reweigh.stepping.under_way import StepUnderWay
from reweigh.student.moment import Moment
from reweigh.student.seen import Seen
from reweigh.teachers.base import objective, show, weigh
from reweigh.typing import Batch, Losses, Weights

log = logging.getLogger("reweigh")


class Weighed(NamedTuple):
    """What a pass came to."""

    seen: Seen
    weights: Weights
    """(n,) as they multiply the losses; raw, while a batch is being accumulated."""
    loss: Tensor
    """w̃ᵀℓ of this process's part, ()."""
    losses: Losses
    """(n,) as people are told them."""


class Passes:
    """The passes of the step under way."""

    def __init__(self, lessons: Lessons, under_way: StepUnderWay, gradients: Gradients) -> None:
        self.student, self.teacher = lessons.student, lessons.teacher
        self.clock, self.lessons = lessons.clock, lessons
        self.under_way, self.gradients = under_way, gradients
        self._told_of_float16 = False
        self.effective_share = 1.0
        """Of the passes of the last step that was watched, together."""

    def backward(self, batch: Batch, ids: Tensor | None) -> Weighed:
        """Forward and backward."""
        engine = self.lessons.recording
        self._warn_of_float16()
        if engine is not None and engine.trajectory == "kept":
            return self._kept(engine, batch, ids)
        one = self.forward(batch, ids)
        arriving = self.gradients.arriving() if self.under_way.complete else nullcontext()
        with self._kernels(engine), arriving:  # a checkpoint recomputes in the backward
            one.loss.backward(inputs=self._leaves() if self.lessons.deeper else None)
        return one

    def forward(self, batch: Batch, ids: Tensor | None) -> Weighed:
        """Forward only: somebody else goes backward."""
        engine = self.lessons.recording
        known = self.lessons.known(batch, ids)
        moment = engine.begin() if engine is not None else None
        # a recorded pass uses the kernels of its replay, whose dropout masks must be the same
        with self._kernels(engine):
            seen = self.student.look(batch, known)
        one = self._weighed(seen)
        if engine is not None and moment is not None:
            engine.recorder.add(self._as_pass(batch, moment, one))
        return one

    def weigh_only(self, batch: Batch, ids: Tensor | None) -> Weighed:
        """Without gradient or trace: somebody else does the whole pass afterwards."""
        engine = self.lessons.recording
        known = self.lessons.known(batch, ids)
        moment = engine.begin() if engine else Moment.now(self.student.module)
        seen = self.student.peek(batch, known, moment)
        one = self._weighed(seen)
        if engine is not None:
            engine.recorder.add(Pass(batch, moment, seen, one.weights))
        return one

    def sound(self, one: Weighed, batch: Batch, *, watched: bool) -> tuple[Tensor, float]:
        """The batch's loss, (), if it is finite: only then does the pass count; and the losses' mean.

        While accumulating it is that of this pass alone, normalised by its own weights. Where the step
        is `watched`, the effective share is read with them, which saves another wait for a GPU.
        """
        figures = self.under_way.weighed[-1]
        told = [figures.mean_loss]
        if watched:
            told.append(Figures.together(self.under_way.weighed).effective_share)
        loss, (number, *share) = check_loss(
            one.loss, told, one.seen, one.weights, batch, self.student.module
        )
        if watched:
            (self.effective_share,) = share
        self.clock.passed(figures.mean_loss)
        if self.under_way.passes > 1:
            loss = loss / figures.normaliser(self.under_way.normalise)
        return loss, number

    def _kept(self, engine: Engine, batch: Batch, ids: Tensor | None) -> Weighed:
        """Forward and backward with a graph that stays."""
        known = self.lessons.known(batch, ids)
        moment = engine.begin()
        with engine.keeping(moment) as kept:
            seen = self.student.look(batch, known)
            one = self._weighed(seen)
            record = self._as_pass(batch, moment, one)
            kept.backward(record, one.seen)
        if self.under_way.complete:
            self.gradients.sum_now()
        engine.recorder.add(record)
        return one

    def _weighed(self, seen: Seen) -> Weighed:
        raw = self._raw(seen)
        losses = seen.losses.detach()
        losses = losses if self.teacher is None else self.teacher.told(losses)
        figures = Figures.of(raw, losses)
        self.under_way.add(figures)
        z = figures.normaliser(self.under_way.normalise).to(raw.dtype)
        weights = raw if self.under_way.passes > 1 else raw / z
        if self.lessons.deeper and self.teacher is not None:
            return Weighed(seen, weights, objective(self.teacher, seen), losses)
        loss = (weights.to(seen.losses.dtype) * seen.losses).sum()
        return Weighed(seen, weights, loss, losses)

    def _raw(self, seen: Seen) -> Weights:
        """What the teacher makes of a pass, before normalisation, (n,); 1 without a teacher."""
        if self.teacher is None:
            return torch.ones_like(seen.losses)
        with torch.no_grad():
            seen = seen.detached()
            show(self.teacher, seen)
            raw = weigh(self.teacher, seen).detach()  # it may be a parameter itself
        if self.clock.steps == 0:
            check_weights(raw, len(seen.losses))
        return raw

    def _as_pass(self, batch: Batch, moment: Moment, one: Weighed) -> Pass:
        weights = None if self.lessons.deeper else one.weights
        return Pass(batch, moment, one.seen.detached(), weights)

    def _warn_of_float16(self) -> None:
        """Once: the teacher's gradients are scaled, but not the student's own backward."""
        kind = next(self.student.module.parameters()).device.type
        half = torch.is_autocast_enabled(kind) and torch.get_autocast_dtype(kind) == torch.float16
        if half and not self._told_of_float16 and rank() == 0:
            log.warning(
                "step() goes backward without a gradient scaler, so that small gradients vanish under "
                "float16 autocast: use bfloat16, or loss() with a torch.amp.GradScaler"
            )
        self._told_of_float16 |= half

    def _kernels(self, engine: Engine | None) -> AbstractContextManager[None]:
        return engine.derivatives.kernels.first_order() if engine is not None else nullcontext()

    def _leaves(self) -> list[Tensor]:
        return [p for p in self.student.module.parameters() if p.requires_grad]
