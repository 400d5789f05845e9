"""The one object a training loop holds: it weighs, it steps, and every K steps the teacher learns.

```python
teacher = reweigh.PosteriorTeacher(num_classes=10)
reweigher = reweigh.Reweigher(student, optimizer, teacher, trusted=trusted_loader)
for x, y in loader:
    reweigher.step(x, y)
```
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from reweigh.distributed.group import any_of, same_as_first
from reweigh.errors import UnsupportedError, UsageError
from reweigh.metagrad.clipping import Clip
from reweigh.metagrad.engine import Engine
from reweigh.stepping import saved_lessons
from reweigh.stepping.arguments import (
    check_counts,
    check_gradients_on,
    check_lookahead,
    check_parts,
)
from reweigh.stepping.clock import Clock
from reweigh.stepping.guards import CollapseWatch
from reweigh.stepping.lessons import Lessons
from reweigh.stepping.moving import Moving
from reweigh.stepping.outcome import Outcome
from reweigh.stepping.passes import Passes, Weighed
from reweigh.stepping.trusted import Trusted
from reweigh.student.batch import cross_entropy, find_labels, refuse_empty
from reweigh.student.student import Student
from reweigh.teachers.base import Teacher, learned_by, weigh
from reweigh.typing import Batch, FindLabels, Params, PerSampleLoss, Weights

Look = Callable[[Batch, Tensor | None], Weighed]

WATCHED = 20
"""Steps between two looks at collapsed weights, where K is left to the loop."""


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
        labels: where a batch's labels are, for teachers that look at them: `f(batch)` → (n,). Not
            needed for `(x, y)`, nor where a part is called label(s), target(s) or y.
        every: K; None leaves the teacher's updates to you (`teach`).
        through: B ≤ K. K = 20 and B = 1 are what `reweigh train` takes, 20 and 2 the paper's.
        teacher_optimizer: default Adam at 0.03 (our choice; the paper does not say).
        trajectory: "kept" graphs (fast), "snapshots" (lean), "reversal" (leanest, small B only),
            "finite" differences (approximate, for kernels without second derivatives), or "auto":
            kept where memory allows.
        deeper: let ∂w/∂θ ≠ 0, in the student's step as well (the paper's deeper interaction).
        lookahead: the teacher learns *before* every K-th step, through one virtual step of plain
            SGD, as in Meta-Weight-Net; `through` stays 1.
        clip_norm: clip the student's gradient to this 2-norm, right before the optimizer steps.
        accumulate: passes per optimizer step; weights are normalised over all of them together.
        total_steps: the length of training, for the M_1 features.
        collapse_below: warn when a batch's effective sample size falls below this share: looked at
            every K steps, told once until it is over.
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
        labels: FindLabels = find_labels,
        every: int | None = 20,
        through: int = 1,
        teacher_optimizer: Optimizer | None = None,
        trajectory: str = "auto",
        deeper: bool = False,
        lookahead: bool = False,
        clip_norm: float | None = None,
        accumulate: int = 1,
        total_steps: int | None = None,
        collapse_below: float = 0.02,
    ) -> None:
        check_parts(student, optimizer, teacher)
        check_counts(every, through, accumulate, total_steps)
        if lookahead:
            check_lookahead(every, through, accumulate)
        learned = per_sample_loss if teacher is None else teacher.loss(per_sample_loss, labels)
        self.student = Student(
            student, learned, teacher.taps if teacher else (), labels,
            loss_is_teachers=learned is not per_sample_loss,
        )  # fmt: skip
        self.optimizer, self.teacher = optimizer, teacher
        self.accumulate = accumulate
        self._collapse = CollapseWatch(collapse_below)
        self.clip = Clip(clip_norm) if clip_norm is not None else None
        self.deeper = teacher is not None and (deeper or teacher.shapes_loss)
        if deeper and teacher is not None and teacher.average:
            raise UnsupportedError(
                "deeper interaction differentiates weights by the student, and this teacher gives them "
                f"by its running average: build it with average=0, as {type(teacher).__name__}(average=0)"
            )
        if self.deeper and (accumulate > 1 or lookahead):
            raise UnsupportedError(
                "deeper interaction works with accumulate=1 and without lookahead only: elsewhere "
                "the normaliser would depend on θ across passes"
            )
        self.clock = Clock(total_steps)
        measure = trusted_loss or per_sample_loss
        self.engine: Engine | None = None
        """What differentiates through the student's steps; None where no teacher learns."""
        if teacher is not None and (lookahead or learned_by(teacher)):
            self.engine = Engine(
                self.student, optimizer, teacher, through=through, trajectory=trajectory,
                deeper=self.deeper, clip=self.clip, trusted_loss=measure,
            )  # fmt: skip
        self.lessons = Lessons(
            self.student, teacher, self.clock, self.engine, trusted=trusted, trusted_loss=measure,
            shown_loss=per_sample_loss, every=every, deeper=self.deeper, lookahead=lookahead,
            optimizer=teacher_optimizer,
        )  # fmt: skip
        modules = [m for m in (student, teacher) if m is not None]
        self._moving = Moving(
            optimizer, self.engine, self.clip, accumulate=accumulate, modules=modules,
            normalise=teacher.normalise if teacher is not None else "count",
            average=self.lessons.average,
        )  # fmt: skip
        self._under_way = self._moving.under_way
        self._passes = Passes(self.lessons, self._under_way, self._moving.gradients)
        for module in modules:
            same_as_first(*module.parameters(), *module.buffers())

    # The loop calls step() and nothing else.

    def step(self, *batch: Any, ids: Tensor | None = None) -> Outcome:
        """Weigh, go backward, move the student; every K-th time the teacher learns.

        `step(x, y)`, or `step(batch)` for a dict or dataclass. `ids` (n,) say which samples these
        are: to teachers that remember samples, and in messages.
        """
        whole, updates = _one(batch), self.clock.updates
        check_gradients_on()
        self._begin(whole, ids, ours=True)
        if self.lessons.recording is not None and any_of(self._under_way.come_last()):
            self._compare_with_replay()  # a hook may change the gradient on its way to the optimizer
        if not self._under_way.weighed:
            self.optimizer.zero_grad(set_to_none=True)
        with self._moving.or_abandon():
            one = self._passes.backward(whole, ids)
            loss, mean = self._passes.sound(one, whole, watched=self._watched)
            if self._under_way.complete:
                self._moving.move()
        figures = self._under_way.weighed[-1]
        if self._under_way.complete:
            self.after_step()
        taught = self.engine is not None and self.clock.updates > updates
        return Outcome(loss, one.losses, one.weights, figures, mean, taught)

    def flush(self) -> bool:
        """Move with what was accumulated so far, at the end of an epoch, say. True if it taught."""
        if not self._under_way.weighed:
            return False
        with self._moving.or_abandon():
            if not self._under_way.complete:
                self._moving.gradients.sum_now()
            self._moving.move()
        return self.after_step()

    def _begin(self, batch: Batch, ids: Tensor | None, *, ours: bool) -> None:
        """Before every pass: what is due before the student moves. `ours`: so is its backward."""
        self._under_way.check_room()
        refuse_empty(batch)
        self.lessons.prepare(batch, ids, ours=ours)
        if not self._under_way.weighed:
            self.lessons.look_ahead(batch, ids)
            self._moving.begin()

    # Or a framework owns the backward: loss() or weights() before it, after_step() after it.

    def loss(self, *batch: Any, ids: Tensor | None = None) -> Tensor:
        """The weighted loss of a batch, to be gone backward over by the loop: one forward pass.

        As it is: not divided by the number of passes, with nothing added. While accumulating it is
        Σ w ℓ with raw weights; the normaliser is applied to the gradient before the optimizer steps.
        """
        check_gradients_on()
        return self._outside(self._passes.forward, _one(batch), ids).loss

    def weights(self, *batch: Any, ids: Tensor | None = None) -> Weights:
        """Weights for the forward pass that the loop does next, (n,), detached, as they multiply losses.

        Costs a forward pass without gradient that leaves no trace. The loop minimises
        `(weights * losses).sum()`. While accumulating, the weights are raw; the normaliser is
        applied to the gradient before the optimizer steps.
        """
        if self.deeper:
            raise UnsupportedError(
                "with deeper interaction the loss is more than a sum: use loss()"
            )
        if self.student.loss_is_teachers:
            raise UnsupportedError(
                f"{type(self.teacher).__name__} has the student learn from a loss of its own, which "
                "weights for the loop's loss do not fit: use loss()"
            )
        return self._outside(self._passes.weigh_only, _one(batch), ids).weights

    @property
    def step_is_over(self) -> bool:
        """Whether `after_step` is due: all passes of a step were weighed, or the optimizer has moved."""
        return self._under_way.complete or self._under_way.moved

    def after_step(self) -> bool:
        """Tell that the optimizer has stepped; every K-th time the teacher learns. True if so."""
        weighed, moved = self._under_way.close()
        if not moved:  # a gradient scaler skipped the step
            self._under_way.skipped = bool(weighed)
            self._moving.abandon()
            return False
        watched = self._watched
        self.clock.moved()
        self.lessons.follow()
        if watched:
            self._collapse.look(self._passes.effective_share)
        if self.engine is None:
            self.lessons.follow_trusted()
            return False
        self.engine.end()
        if not self.lessons.due:
            return False
        self.teach()
        return True

    def peek(self, *batch: Any, ids: Tensor | None = None) -> Weights:
        """What the teacher thinks of a batch right now: raw weights, (n,). Nothing is noted."""
        whole = _one(batch)
        seen = self.student.peek(whole, self.lessons.known(whole, ids, trains=False))
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
        if self._under_way.weighed:
            raise UsageError("state_dict() was called inside a step: finish it first")
        return saved_lessons.save(self.lessons)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a `state_dict()` of a reweigher built alike."""
        saved_lessons.load(self.lessons, state)

    # Inside.

    @property
    def _watched(self) -> bool:
        """Whether after the step under way it is asked if a few samples hold all the weight."""
        rhythm = self.lessons.every or WATCHED
        return self.teacher is not None and (self.clock.steps + 1) % rhythm == 0

    def _outside(self, look: Look, batch: Batch, ids: Tensor | None) -> Weighed:
        """A pass that the loop goes backward over itself."""
        self._begin(batch, ids, ours=False)
        if self.accumulate == 1:  # else others' hooks would see gradients that are not scaled yet
            self._under_way.come_last()
        self._compare_with_replay()
        with self._moving.or_abandon():
            one = look(batch, ids)
            self._passes.sound(one, batch, watched=self._watched)
        if self._under_way.complete:  # the loop's last backward of a step is to be summed
            self._moving.gradients.expect()
        return one

    def _compare_with_replay(self) -> None:
        recording = self.lessons.recording
        if recording is not None and not self._under_way.weighed:
            recording.watch_outside()


def _one(batch: tuple[Any, ...]) -> Batch:
    """`step(x, y)` is the batch (x, y); `step(batch)` is batch."""
    if not batch:
        raise UsageError("a step needs a batch: step(x, y), or step(batch)")
    return batch[0] if len(batch) == 1 else batch
