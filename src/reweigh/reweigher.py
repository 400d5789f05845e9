"""The one object a training loop holds: it weighs, it steps, and every K steps the teacher learns.

```python
teacher = reweigh.PosteriorTeacher(layer="fc", num_classes=10)
reweigher = reweigh.Reweigher(student, optimizer, teacher, trusted=trusted_loader)
for x, y in loader:
    reweigher.step(x, y)
```
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from reweigh.batch import cross_entropy
from reweigh.clock import Clock
from reweigh.distributed.gathering import gathered_seen
from reweigh.distributed.gradients import Gradients
from reweigh.distributed.group import same_as_first
from reweigh.errors import UnsupportedError, UsageError
from reweigh.figures import Figures
from reweigh.guards import (
    check_loss,
    check_weights,
    warn_of_collapse,
)
from reweigh.lessons import Lessons
from reweigh.metagrad.clipping import Clip
from reweigh.metagrad.engine import Engine
from reweigh.metagrad.steps import Pass
from reweigh.moment import Moment
from reweigh.outcome import Outcome
from reweigh.seen import Seen
from reweigh.student import Student
from reweigh.teachers.base import Teacher, weigh
from reweigh.trusted import Trusted
from reweigh.typing import Batch, Params, PerSampleLoss, Weights
from reweigh.under_way import StepUnderWay


class Reweigher:
    r"""Learns per-sample weights inside any PyTorch training loop.

    Let θ be the student's parameters and ω the teacher's. A step minimises $\tilde w^\top \ell$ with
    $w = \phi(\cdot\,; \omega)$; after every `every` (K) steps ω moves along −∂(trusted loss)/∂ω,
    taken exactly through the last `through` (B) steps of the student's own optimizer.

    Where torch.distributed has been started, each process gives its own part of every training and
    trusted batch; weights, gradients and figures are those of all parts together.

    Args:
        student: any `nn.Module`, unmodified and unwrapped.
        optimizer: its `torch.optim` SGD, Adam or AdamW, with any scheduler.
        teacher: who gives the weights; None for plain training through the same loop.
        trusted: trusted batches: a loader, one batch, or a function of the update's number.
        per_sample_loss: `f(student, batch)` → (n,) losses; default: cross-entropy of `(x, y)`. A
            teacher may have the student learn from a loss of its own (`PosteriorTeacher`); this one
            is then for trusted samples.
        trusted_loss: the measure on trusted samples, if it is another (a smooth 0/1 error, say).
        every: K; None leaves the teacher's updates to you (`teach`).
        through: B ≤ K.
        teacher_optimizer: default Adam at 0.03 (our choice; the paper does not say).
        trajectory: "kept" graphs (fast), "snapshots" (lean), "reversal" (leanest, small B only),
            "finite" differences (approximate, for kernels without second derivatives), or "auto":
            kept where memory allows.
        deeper: let ∂w/∂θ ≠ 0, in the student's step as well (the paper's deeper interaction).
        lookahead: the teacher learns *before* every K-th step, through one virtual step of plain
            SGD, as in Meta-Weight-Net; `through` is then not used.
        clip_norm: clip the student's gradient to this 2-norm.
        accumulate: passes per optimizer step; weights are normalised over all of them together.
        total_steps: the length of training, for the M_1 features.
        collapse_below: warn when a batch's effective sample size falls below this share.
    """

    def __init__(
        self,
        student: nn.Module,
        optimizer: Optimizer,
        teacher: Teacher | None = None,
        *,
        trusted: Trusted = None,
        per_sample_loss: PerSampleLoss = cross_entropy,
        trusted_loss: PerSampleLoss | None = None,
        every: int | None = 20,
        through: int = 2,
        teacher_optimizer: Optimizer | None = None,
        trajectory: str = "auto",
        deeper: bool = False,
        lookahead: bool = False,
        clip_norm: float | None = None,
        accumulate: int = 1,
        total_steps: int | None = None,
        collapse_below: float = 0.02,
    ) -> None:
        _check_counts(every, 1 if lookahead else through, accumulate)
        learned = per_sample_loss if teacher is None else teacher.loss(per_sample_loss)
        self._loss_is_teachers = learned is not per_sample_loss
        self.student = Student(student, learned, teacher.taps if teacher else ())
        self.optimizer, self.teacher = optimizer, teacher
        self.accumulate = accumulate
        self.collapse_below = collapse_below
        self.clip = Clip(clip_norm) if clip_norm is not None else None
        self.deeper = teacher is not None and (deeper or teacher.shapes_loss)
        if self.deeper and (accumulate > 1 or lookahead):
            raise UnsupportedError(
                "deeper interaction works with accumulate=1 and without lookahead only: elsewhere "
                "the normaliser would depend on θ across passes"
            )
        self.clock = Clock(total_steps)
        self.lessons = Lessons(
            self.student, optimizer, teacher, self.clock, trusted=trusted,
            trusted_loss=trusted_loss or per_sample_loss, every=every, through=through, trajectory=trajectory,
            deeper=self.deeper, lookahead=lookahead, clip=self.clip, optimizer=teacher_optimizer,
        )  # fmt: skip
        normalise = teacher.normalise if teacher is not None else "count"
        self._open = StepUnderWay(optimizer, accumulate, normalise, self._about_to_move)
        self._outside = False
        self._gradients = Gradients(optimizer)
        for module in (student, teacher):
            if module is not None:
                same_as_first(*module.parameters(), *module.buffers())

    @property
    def engine(self) -> Engine | None:
        """What differentiates through the student's steps; None where no teacher learns."""
        return self.lessons.engine

    # The loop calls step() and nothing else.

    def step(self, *batch: Any, ids: Tensor | None = None) -> Outcome:
        """Weigh, go backward, move the student; every K-th time the teacher learns.

        `step(x, y)`, or `step(batch)` for a dict or dataclass. `ids` name the samples in messages.
        """
        whole = _one(batch)
        self._begin(whole, ids)
        if not self._open.weighed:
            self.optimizer.zero_grad(set_to_none=True)
        with self._or_abandon():
            seen, weights, own = self._pass(whole, ids, backward=True)
            loss = self._sound(own, seen, weights)
            if self._open.complete:
                self._move()
        figures = self._open.weighed[-1]
        taught = self.after_step() if self._open.complete else False
        return Outcome(loss, seen.losses.detach(), weights, figures, taught)

    def _begin(self, batch: Batch, ids: Tensor | None) -> None:
        """Before every pass: what is due before the student moves."""
        self._open.check_room()
        self.lessons.prepare(batch, ids)
        if not self._open.weighed:
            self.lessons.look_ahead(batch, ids)

    def _pass(
        self, batch: Batch, ids: Tensor | None, *, backward: bool
    ) -> tuple[Seen, Weights, Tensor]:
        """One pass of a step, recorded where the teacher will go back over it."""
        engine = self.lessons.recording
        if engine is not None and backward and engine.trajectory == "kept":
            return self._kept_pass(engine, batch, ids)
        moment = engine.begin() if engine is not None else None
        # a recorded pass uses the kernels of its replay, whose dropout masks must be the same
        with engine.derivatives.kernels.first_order() if engine and backward else nullcontext():
            seen = self.student.look(batch, self.clock.progress(), ids)
        weights, loss = self._weighed(seen)
        if engine is not None and moment is not None:
            engine.recorder.add(self._as_pass(batch, moment, seen, weights))
        if backward:
            with self._gradients.arriving() if self._open.complete else nullcontext():
                loss.backward(inputs=self._leaves() if self.deeper else None)
        return seen, weights, loss

    def _kept_pass(
        self, engine: Engine, batch: Batch, ids: Tensor | None
    ) -> tuple[Seen, Weights, Tensor]:
        """The same with a graph that stays."""
        moment = engine.begin()
        with engine.keeping(moment) as kept:
            seen = self.student.look(batch, self.clock.progress(), ids)
            weights, loss = self._weighed(seen)
            one = self._as_pass(batch, moment, seen, weights)
            kept.backward(one, seen)
        if self._open.complete:
            self._gradients.sum_now()
        engine.recorder.add(one)
        return seen, weights, loss

    def _move(self) -> None:
        """Normalise over the accumulated batch, clip, and let the optimizer step."""
        if self.accumulate > 1:
            self._scale_gradients()
        if self.engine is not None:
            self.engine.recorder.keep_gradient()
        if self.clip is not None:
            self.clip.apply(p for group in self.optimizer.param_groups for p in group["params"])
        self._outside = False
        self.optimizer.step()
        torch.clear_autocast_cache()  # a loop inside one autocast would go on with the old θ

    # Or a framework owns the backward: loss() or weights() before it, after_step() after it.

    def loss(self, *batch: Any, ids: Tensor | None = None) -> Tensor:
        """The weighted loss of a batch, to be gone backward over by the loop: one forward pass."""
        whole = _one(batch)
        self._watch_outside(whole, ids)
        with self._or_abandon():
            seen, weights, loss = self._pass(whole, ids, backward=False)
            self._sound(loss, seen, weights)
        self._expect_backward()
        return loss

    def weights(self, *batch: Any, ids: Tensor | None = None) -> Weights:
        """Weights for the forward pass that the loop does next, (n,), detached, summing to 1.

        Costs a forward pass without gradient that leaves no trace. The loop minimises
        `(weights * losses).sum()`. While accumulating, the weights are raw; the normaliser is
        applied to the gradient before the optimizer steps.
        """
        if self.deeper:
            raise UnsupportedError(
                "with deeper interaction the loss is more than a sum: use loss()"
            )
        if self._loss_is_teachers:
            raise UnsupportedError(
                f"{type(self.teacher).__name__} has the student learn from a loss of its own, which "
                "weights for the loop's loss do not fit: use loss()"
            )
        whole = _one(batch)
        self._watch_outside(whole, ids)
        engine = self.lessons.recording
        moment = engine.begin() if engine else Moment.now(self.student.module)
        with self._or_abandon():
            seen = self.student.peek(whole, self.clock.progress(), ids, moment)
            weights, loss = self._weighed(seen)
            self._sound(loss, seen, weights)
        if engine is not None:
            engine.recorder.add(Pass(whole, moment, seen, weights))
        self._expect_backward()
        return weights

    def after_step(self) -> bool:
        """Tell that the optimizer has stepped; every K-th time the teacher learns. True if so."""
        weighed, moved = self._open.close()
        if not moved:  # a gradient scaler skipped the step
            self._abandon()
            return False
        self.clock.moved()
        if self.engine is None:
            self.lessons.follow_trusted()
            return False
        self.engine.end()
        if not self.lessons.due:
            return False
        warn_of_collapse(Figures.together(weighed), self.collapse_below)
        self.teach()
        return True

    def weigh(self, *batch: Any, ids: Tensor | None = None) -> Weights:
        """What the teacher thinks of a batch right now: raw weights, (n,). Nothing is noted."""
        whole = _one(batch)
        seen = self.student.peek(whole, self.clock.progress(), ids)
        if self.teacher is None:
            return torch.ones_like(seen.losses)
        with torch.no_grad():
            return weigh(self.teacher, seen)

    # The teacher learns.

    def teach(self, trusted_batch: Batch | None = None) -> None:
        """Move the teacher along −∂(trusted loss)/∂ω through the recorded steps."""
        self.lessons.teach(trusted_batch)

    def meta_gradient(self, trusted_batch: Batch) -> Params:
        """∂(trusted loss)/∂ω through the recorded steps, by the teacher's parameter names.

        Changes nothing: neither student, teacher, optimizers, buffers nor generators.
        """
        return self.lessons.meta_gradient(trusted_batch)

    def note_trusted_accuracy(self, accuracy: float) -> None:
        """Tell how accurate the student is on the trusted set, for the M_1 features."""
        self.clock.best_accuracy = max(self.clock.best_accuracy, float(accuracy))

    # A run that stops goes on where it was.

    def state_dict(self) -> dict[str, Any]:
        """Teacher, its optimizer, counters and recorded steps, as plain containers of tensors."""
        if self._open.weighed:
            raise UsageError("state_dict() was called inside a step: finish it first")
        return {"clock": self.clock.state_dict(), **self.lessons.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a `state_dict()` of a reweigher built alike."""
        self.clock.load_state_dict(state["clock"])
        self.lessons.load_state_dict(state)

    # Inside.

    def _weighed(self, seen: Seen) -> tuple[Weights, Tensor]:
        r"""The weights that multiply the losses, and the loss: $\tilde w^\top\ell$."""
        raw = self._raw(seen)
        figures = Figures.of(raw, seen.losses)
        self._open.add(figures)
        z = figures.normaliser(self._open.normalise).to(raw.dtype)
        weights = raw if self.accumulate > 1 else raw / z
        if self.deeper and self.teacher is not None:
            return weights, self.teacher.objective(seen)
        return weights, (weights.to(seen.losses.dtype) * seen.losses).sum()

    def _sound(self, own: Tensor, seen: Seen, weights: Weights) -> Tensor:
        """The batch's loss, if it is finite: only then does the pass count."""
        loss = check_loss(own, seen, weights)
        self.clock.passed(self._open.weighed[-1].mean_loss)
        return loss

    def _raw(self, seen: Seen) -> Weights:
        """What the teacher makes of a pass, before normalisation, (n,); 1 without a teacher."""
        if self.teacher is None:
            return torch.ones_like(seen.losses)
        with torch.no_grad():
            seen = seen.detached()
            self.teacher.notice(gathered_seen(seen) if self.teacher.judges_batch else seen)
            raw = weigh(self.teacher, seen).detach()  # it may be a parameter itself
        if self.clock.steps == 0:
            check_weights(raw, len(seen.losses))
        return raw

    def _as_pass(self, batch: Batch, moment: Moment, seen: Seen, weights: Weights) -> Pass:
        return Pass(batch, moment, seen.detached(), None if self.deeper else weights)

    def _scale_gradients(self) -> None:
        scale = self._open.scale_gradients()
        if self.engine is not None and self.engine.recorder.current is not None:
            self.engine.recorder.current.scale = scale

    def _about_to_move(self) -> None:
        """The optimizer is about to step, called by us or by the loop."""
        if self._outside and self.accumulate > 1:
            self._scale_gradients()
        if self.engine is not None:
            self.engine.recorder.remember()

    def _watch_outside(self, batch: Batch, ids: Tensor | None) -> None:
        """Before a pass that the loop goes backward over itself."""
        if self.accumulate > 1 and self.clip is not None:
            raise UnsupportedError(
                "clip_norm with accumulate > 1 works only through step(): a loop that clips by "
                "itself does so before the weights are normalised"
            )
        self._begin(batch, ids)
        self._outside = True
        if self.engine is not None and not self._open.weighed:
            self.engine.watch_outside()

    def _expect_backward(self) -> None:
        """The loop's own backward comes next: its last one of a step is to be summed."""
        if self._open.complete:
            self._gradients.expect()

    @contextmanager
    def _or_abandon(self) -> Iterator[None]:
        """If a step fails, forget it, so that the loop may catch the error and go on."""
        try:
            yield
        except BaseException:
            self._abandon()
            raise

    def _abandon(self) -> None:
        """Forget the step under way."""
        self._open.close()
        self._gradients.forget()
        if self.engine is not None:
            self.engine.abandon()

    def _leaves(self) -> list[Tensor]:
        return [p for p in self.student.module.parameters() if p.requires_grad]


def _one(batch: tuple[Any, ...]) -> Batch:
    """`step(x, y)` is the batch (x, y); `step(batch)` is batch."""
    if not batch:
        raise UsageError("a step needs a batch: step(x, y), or step(batch)")
    return batch[0] if len(batch) == 1 else batch


def _check_counts(every: int | None, through: int, accumulate: int) -> None:
    for name, value in (
        ("every", every),
        ("through", through),
        ("accumulate", accumulate),
    ):
        if value is not None and (not isinstance(value, int) or value < 1):
            raise UsageError(f"{name} must be a whole number of at least 1, not {value!r}")
    if every is not None and through > every:
        raise UsageError(
            f"through={through} is more than every={every}: the teacher changes every {every} "
            f"steps, and only steps under the present teacher can be gone back over; give "
            f"through={every} or less"
        )
