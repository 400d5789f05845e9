"""The one object a training loop holds: it weighs, it steps, and every K steps the teacher learns.

```python
teacher = reweigh.InteractionTeacher(student, layer="fc", num_classes=10)
reweigher = reweigh.Reweigher(student, optimizer, teacher, trusted=trusted_loader)
for x, y in loader:
    reweigher.step(x, y)
```
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from reweigh.batch import cross_entropy
from reweigh.errors import UnsupportedError, UsageError
from reweigh.guards import check_loss, check_meta_gradient, check_weights, warn_of_collapse
from reweigh.metagrad.clipping import Clip
from reweigh.metagrad.engine import Engine
from reweigh.metagrad.steps import Pass
from reweigh.metagrad.window import pack, unpack
from reweigh.moment import Moment
from reweigh.outcome import Outcome
from reweigh.seen import Progress, Seen
from reweigh.student import Student
from reweigh.teachers.base import Teacher, normalised, normaliser
from reweigh.trusted import Trusted, TrustedBatches
from reweigh.typing import Batch, Params, PerSampleLoss, Weights


class Reweigher:
    r"""Learns per-sample weights inside any PyTorch training loop.

    Let θ be the student's parameters and ω the teacher's. A step minimises $\tilde w^\top \ell$ with
    $w = \phi(\cdot\,; \omega)$; after every `every` (K) steps ω moves along −∂(trusted loss)/∂ω,
    taken exactly through the last `through` (B) steps of the student's own optimizer.

    Args:
        student: any `nn.Module`, unmodified and unwrapped.
        optimizer: its `torch.optim` SGD, Adam or AdamW, with any scheduler.
        teacher: who gives the weights; None for plain training through the same loop.
        trusted: trusted batches: a loader, one batch, or a function of the update's number.
        per_sample_loss: `f(student, batch)` → (n,) losses; default: cross-entropy of `(x, y)`.
        every: K; None leaves the teacher's updates to you (`teach`).
        through: B ≤ K.
        teacher_optimizer: default Adam at 0.03 (our choice; the paper does not say).
        trajectory: "kept" graphs (fast), "snapshots" (lean), "reversal" (leanest, small B only), or
            "auto": kept where memory allows.
        derivatives: "exact", or "finite" differences for kernels without second derivatives.
        deeper: let ∂w/∂θ ≠ 0, in the student's step as well (the paper's deeper interaction).
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
        every: int | None = 20,
        through: int = 2,
        teacher_optimizer: Optimizer | None = None,
        trajectory: str = "auto",
        derivatives: str = "exact",
        deeper: bool = False,
        clip_norm: float | None = None,
        accumulate: int = 1,
        total_steps: int | None = None,
        collapse_below: float = 0.02,
    ) -> None:
        _check_counts(every, through, accumulate)
        self.student = Student(student, per_sample_loss, teacher.taps if teacher else ())
        self.optimizer, self.teacher = optimizer, teacher
        self.every, self.accumulate = every, accumulate
        self.total_steps, self.collapse_below = total_steps, collapse_below
        self.clip = Clip(clip_norm) if clip_norm is not None else None
        self.deeper = teacher is not None and (deeper or teacher.shapes_loss)
        self.engine: Engine | None = None
        self.steps_taken = self.updates = self._since_update = 0
        self.best_trusted_accuracy = 0.0
        self._loss_sum = torch.zeros(())
        self._open: list[Weights] = []  # raw weights of the passes of the step under way
        self._prepared = False
        self._outside_hook: Any = None
        if self.deeper and accumulate > 1:
            raise UnsupportedError(
                "deeper interaction with accumulate > 1 is not supported, since the normaliser "
                "would depend on θ across passes: use accumulate=1"
            )
        if teacher is not None and _learns(teacher):
            self._trusted = TrustedBatches(trusted)
            self.teacher_optimizer = teacher_optimizer or torch.optim.Adam(
                [p for p in teacher.parameters() if p.requires_grad], lr=0.03
            )
            self.engine = Engine(
                self.student, optimizer, teacher, through=through, trajectory=trajectory,
                derivatives=derivatives, deeper=self.deeper, clip=self.clip,
            )  # fmt: skip

    # The loop calls step() and nothing else.

    def step(self, *batch: Any, ids: Tensor | None = None) -> Outcome:
        """Weigh, go backward, move the student; every K-th time the teacher learns.

        `step(x, y)`, or `step(batch)` for a dict or dataclass. `ids` name the samples in messages.
        """
        whole = _one(batch)
        self._prepare(whole)
        if not self._open:
            self.optimizer.zero_grad(set_to_none=True)
        seen, weights, loss = self._pass(whole, ids, backward=True)
        taught = False
        if len(self._open) == self.accumulate:
            self._move()
            taught = self.after_step()
        return Outcome(loss.detach(), seen.losses.detach(), weights, taught)

    def _pass(
        self, batch: Batch, ids: Tensor | None, *, backward: bool
    ) -> tuple[Seen, Weights, Tensor]:
        """One pass of a step, recorded where the teacher will go back over it."""
        engine = self.engine if self._recording() else None
        leaves = moment = None
        if engine is None:
            seen = self.student.look(batch, self._progress(), ids=ids)
        else:
            engine.begin()
            keep = engine.derivatives if backward and engine.trajectory == "kept" else None
            seen, moment, leaves = engine.recorder.look(batch, self._progress(), ids, keep)
        weights, loss = self._weighed(seen)
        check_loss(loss, seen, weights)
        if engine is not None and moment is not None:
            one = Pass(batch, moment, seen.detached(), None if self.deeper else weights)
            engine.recorder.add(one)
            if leaves is not None:
                engine.keep_graph(one, seen, leaves)
                return seen, weights, loss
        if backward:
            loss.backward()
        return seen, weights, loss

    def _move(self) -> None:
        """Normalise over the accumulated batch, clip, and let the optimizer step."""
        if self.accumulate > 1:
            self._scale_gradients()
        if self.engine is not None:
            self.engine.recorder.keep_gradient()
        if self.clip is not None:
            self.clip.apply(p for group in self.optimizer.param_groups for p in group["params"])
        self.optimizer.step()

    # Or a framework owns the backward: loss() or weights() before it, after_step() after it.

    def loss(self, *batch: Any, ids: Tensor | None = None) -> Tensor:
        """The weighted loss of a batch, to be gone backward over by the loop: one forward pass."""
        whole = _one(batch)
        self._prepare(whole)
        self._watch_outside()
        return self._pass(whole, ids, backward=False)[2]

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
        whole = _one(batch)
        self._prepare(whole)
        self._watch_outside()
        moment = Moment.now(self.student.module)
        seen = self._peek(whole, moment, ids)
        weights, loss = self._weighed(seen)
        check_loss(loss, seen, weights)
        if self.engine is not None and self._recording():
            self.engine.begin()
            self.engine.recorder.add(Pass(whole, moment, seen, weights))
        return weights

    def after_step(self) -> bool:
        """Tell that the optimizer has stepped; every K-th time the teacher learns. True if so."""
        weights, self._open = self._open, []
        if self._outside_hook is not None:
            self._outside_hook.remove()
            self._outside_hook = None
        self.steps_taken += 1
        self._since_update += 1
        if self.engine is None:
            return False
        self.engine.end()
        if self.every is None or self._since_update < self.every:
            return False
        if weights:
            warn_of_collapse(torch.cat(weights), self.collapse_below)
        self.teach()
        return True

    # The teacher learns.

    def teach(self, trusted_batch: Batch | None = None) -> None:
        """Move the teacher along −∂(trusted loss)/∂ω through the recorded steps."""
        engine, teacher = self._learning()
        batch = self._trusted.take(self.updates) if trusted_batch is None else trusted_batch
        named = [(n, p) for n, p in teacher.named_parameters() if p.requires_grad]
        gradient = engine.meta_gradient(batch, keep=False)
        check_meta_gradient((n for n, _ in named), gradient)
        for (_, p), d in zip(named, gradient, strict=True):
            p.grad = d
        self.teacher_optimizer.step()
        self.teacher_optimizer.zero_grad(set_to_none=True)
        engine.steps = []
        self.updates += 1
        self._since_update = 0

    def meta_gradient(self, trusted_batch: Batch) -> Params:
        """∂(trusted loss)/∂ω through the recorded steps, by the teacher's parameter names.

        Changes nothing: neither student, teacher, optimizers, buffers nor generators.
        """
        engine, teacher = self._learning()
        names = [n for n, p in teacher.named_parameters() if p.requires_grad]
        return dict(zip(names, engine.meta_gradient(trusted_batch, keep=True), strict=True))

    def note_trusted_accuracy(self, accuracy: float) -> None:
        """Tell how accurate the student is on the trusted set, for the M_1 features."""
        self.best_trusted_accuracy = max(self.best_trusted_accuracy, float(accuracy))

    # A run that stops goes on where it was.

    def state_dict(self) -> dict[str, Any]:
        """Teacher, its optimizer, counters and recorded steps, as plain containers of tensors."""
        if self._open:
            raise UsageError("state_dict() was called inside an accumulated step: finish it first")
        state: dict[str, Any] = {
            "steps_taken": self.steps_taken,
            "updates": self.updates,
            "since_update": self._since_update,
            "best_trusted_accuracy": self.best_trusted_accuracy,
            "loss_sum": self._loss_sum,
        }
        if self.teacher is not None:
            state["teacher"] = self.teacher.state_dict()
        if self.engine is not None:
            state["teacher_optimizer"] = self.teacher_optimizer.state_dict()
            state["window"] = pack(self.engine.steps)
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a `state_dict()` of a reweigher built alike."""
        self.steps_taken, self.updates = state["steps_taken"], state["updates"]
        self._since_update = state["since_update"]
        self.best_trusted_accuracy = state["best_trusted_accuracy"]
        self._loss_sum = state["loss_sum"]
        if self.teacher is not None:
            self.teacher.load_state_dict(state["teacher"])
        if self.engine is not None:
            self.teacher_optimizer.load_state_dict(state["teacher_optimizer"])
            self.engine.steps = unpack(state["window"])

    # Inside.

    def _weighed(self, seen: Seen) -> tuple[Weights, Tensor]:
        """The weights that multiply the losses, and the loss: $\\tilde w^\\top\\ell$."""
        self._loss_sum = self._loss_sum.to(seen.losses) + seen.losses.detach().mean()
        raw = self._raw(seen)
        self._open.append(raw)
        if self.deeper and self.teacher is not None:
            return normalised(raw, self.teacher.normalise), self.teacher.objective(seen)
        weights = raw if self.accumulate > 1 else normalised(raw, self._normalise)
        return weights, (weights.to(seen.losses.dtype) * seen.losses).sum()

    def _raw(self, seen: Seen) -> Weights:
        """What the teacher makes of a pass, before normalisation, (n,); 1 without a teacher."""
        if self.teacher is None:
            return torch.ones_like(seen.losses)
        with torch.no_grad():
            seen = seen.detached()
            self.teacher.notice(seen)
            raw = self.teacher(seen)
        if self.steps_taken == 0:
            check_weights(raw, len(seen.losses))
        return raw

    @property
    def _normalise(self) -> str:
        return self.teacher.normalise if self.teacher is not None else "count"

    def _scale_gradients(self, *_: object) -> None:
        """Divide by the normaliser of the accumulated batch, now that all of it is known."""
        scale = 1 / normaliser(torch.cat(self._open), self._normalise)
        held = (p for group in self.optimizer.param_groups for p in group["params"])
        for p in held:
            if p.grad is not None:
                p.grad.mul_(scale)
        if self.engine is not None and self.engine.recorder.current is not None:
            self.engine.recorder.current.scale = scale

    def _watch_outside(self) -> None:
        """Before a step that the loop takes: normalise accumulated gradients, check the first one."""
        if self.accumulate > 1 and self.clip is not None:
            raise UnsupportedError(
                "clip_norm with accumulate > 1 works only through step(): a loop that clips by "
                "itself does so before the weights are normalised"
            )
        if self.accumulate > 1 and self._outside_hook is None:
            self._outside_hook = self.optimizer.register_step_pre_hook(self._scale_gradients)
        if self.engine is not None and not self._open:
            self.engine.watch_outside()

    def _recording(self) -> bool:
        """Whether the step under way is among the last B of its K."""
        if self.engine is None:
            return False
        return self.every is None or self._since_update >= self.every - self.engine.through

    def _progress(self) -> Progress:
        share = self.steps_taken / self.total_steps if self.total_steps else float("nan")
        mean = self._loss_sum / max(1, self.steps_taken * self.accumulate)
        return Progress(share, mean, self.best_trusted_accuracy)

    def _peek(self, batch: Batch, moment: Moment, ids: Tensor | None = None) -> Seen:
        """What a batch looks like right now, without a trace."""
        with torch.no_grad(), moment.again(self.student.module):
            buffers = moment.fresh_buffers()
            return self.student.look(batch, self._progress(), at={}, buffers=buffers, ids=ids)

    def _prepare(self, batch: Batch) -> None:
        """Once, on the first batch: do all derivatives exist that the teacher will need?"""
        if self._prepared:
            return
        self._prepared = True
        if self.engine is None or self.teacher is None:
            return
        moment = Moment.now(self.student.module)
        seen = self._peek(batch, moment)
        with torch.no_grad():
            weights = None if self.deeper else self.teacher(seen)
        self.engine.prepare(Pass(batch, moment, seen, weights))

    def _learning(self) -> tuple[Engine, Teacher]:
        if self.engine is None or self.teacher is None:
            raise UsageError("there is no teacher that learns: give teacher= and trusted=")
        return self.engine, self.teacher


def _one(batch: tuple[Any, ...]) -> Batch:
    """`step(x, y)` is the batch (x, y); `step(batch)` is batch."""
    if not batch:
        raise UsageError("a step needs a batch: step(x, y), or step(batch)")
    return batch[0] if len(batch) == 1 else batch


def _learns(teacher: Teacher) -> bool:
    """Whether the meta-gradient has anything to move."""
    return teacher.meta_learned and any(p.requires_grad for p in teacher.parameters())


def _check_counts(every: int | None, through: int, accumulate: int) -> None:
    for name, value in (("every", every), ("through", through), ("accumulate", accumulate)):
        if value is not None and (not isinstance(value, int) or value < 1):
            raise UsageError(f"{name} must be a whole number of at least 1, not {value!r}")
    if every is not None and through > every:
        raise UsageError(
            f"through={through} is more than every={every}: the teacher changes every {every} steps, "
            "and only steps under the present teacher can be gone back over"
        )
