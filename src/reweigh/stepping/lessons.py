r"""How the teacher learns: when a lesson is due, on which trusted batch, and the step of ω.

After every K steps of the student ω moves along $-\partial M/\partial\omega$, where M is the mean
loss of a trusted batch; *before* every K-th step with `lookahead`. A teacher that keeps statistics
and learns nothing sees a trusted batch as often.
"""

from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from reweigh.errors import UsageError
from reweigh.metagrad.engine import Engine
from reweigh.metagrad.guards import check_meta_gradient, in_trusted_batch
from reweigh.metagrad.lookahead import Lookahead
from reweigh.metagrad.repeatable import (
    check_goes_through_module,
    check_repeatable,
    check_teacher_repeats,
)
from reweigh.metagrad.steps import Pass
from reweigh.stepping.clock import Clock
from reweigh.stepping.trusted import Trusted, TrustedBatches
from reweigh.student.average import Average
from reweigh.student.batch import moved_to, refuse_empty
from reweigh.student.moment import Moment, rng_unmoved
from reweigh.student.seen import Known, Seen
from reweigh.student.student import Student
from reweigh.teachers.base import (
    Teacher,
    check_teacher,
    learned_by,
    listens,
    objective,
    show_trusted,
    weigh,
)
from reweigh.typing import Batch, Params, PerSampleLoss, Weights

LEARNING_RATE = 0.03
"""Of the teacher's Adam. Our choice: the paper does not say."""
SETTLED = 5
"""Steps between two times that a teacher's statistics may settle. Our choice."""


class Lessons:
    """The teacher with all that it learns by; one that does not learn has no `engine`."""

    def __init__(
        self,
        student: Student,
        teacher: Teacher | None,
        clock: Clock,
        engine: Engine | None,
        *,
        trusted: Trusted,
        trusted_loss: PerSampleLoss,
        shown_loss: PerSampleLoss,
        every: int | None,
        deeper: bool,
        lookahead: bool,
        optimizer: Optimizer | None,
    ) -> None:
        self.student, self.teacher, self.clock = student, teacher, clock
        self.every, self.deeper, self.lookahead = every, deeper, lookahead
        self._shown_loss, self._same_loss = shown_loss, shown_loss is trusted_loss
        self.engine = engine
        self.average: Average | None = None
        self.optimizer: Optimizer | None = None
        self.device = next(student.module.parameters()).device
        self._prepared = False
        if teacher is None:
            return
        check_teacher(teacher)
        if teacher.average:
            self.average = Average(student, teacher.average, teacher.answers)
        teacher.to(self.device)
        if engine is not None or listens(teacher):
            self._trusted = TrustedBatches(trusted)
        learned = list(learned_by(teacher).values())
        if lookahead and not learned and type(teacher).look_ahead is Teacher.look_ahead:
            raise UsageError("lookahead=True needs a teacher with parameters to learn")
        if learned:
            self.optimizer = optimizer or torch.optim.Adam(learned, lr=LEARNING_RATE)
            _check_optimizer(self.optimizer, learned)

    @torch.enable_grad()
    def prepare(self, batch: Batch, ids: Tensor | None, *, ours: bool = False) -> None:
        """On the first batch: do all derivatives exist that the teacher will need?

        `ours`: the loop leaves the backward to us.
        """
        if self.teacher is None or self._prepared:
            return
        self.teacher.meet(self.student.labels(batch))
        if self.engine is not None:
            moment = Moment.now(self.student.module)
            seen = self.student.peek(batch, self.known(batch, ids), moment)
            one = Pass(batch, moment, seen, self._first_weights(self.teacher, seen))
            check_repeatable(self.student, one)
            self.engine.recorder.look_again()
            check_goes_through_module(self.student, one, self.engine.recorder.names)
            looks_back = self.lookahead and self.optimizer is not None
            self.engine.prepare(one, second=looks_back, keeps=ours and not self.lookahead)
            if self.every is not None:  # a malformed trusted batch is found now, not at step K
                with rng_unmoved(self.student.module):  # a loader draws when it starts
                    trusted = moved_to(self._trusted.peek(self.clock.updates), self.device)
                self.engine.trusted_gradient(trusted, self.engine.theta())
        self._prepared = True

    def _first_weights(self, teacher: Teacher, seen: Seen) -> Weights | None:
        """Raw, (n,); None where the teacher gives the loss itself. One that learns says it twice."""
        ask = partial(objective if self.deeper else weigh, teacher, seen)
        if self.optimizer is not None:
            said = check_teacher_repeats(self.student, ask)
            return None if self.deeper else said
        with torch.no_grad():
            return None if self.deeper else ask()

    def known(self, batch: Batch, ids: Tensor | None, *, trains: bool = True) -> Known:
        """Where training stands, and what the student's average makes of a batch, if there is one.

        Where nothing `trains`, the average does not begin by being asked.
        """
        average = None if self.average is None else self.average.look(batch, begins=trains)
        return Known(self.clock.progress(), ids, average)

    def follow(self) -> None:
        """The student has moved."""
        if self.average is not None:
            self.average.follow(self.clock.steps)
        if self.teacher is not None and self.clock.since_update % SETTLED == 0 and self._free:
            self.teacher.settle()

    @property
    def _free(self) -> bool:
        """Whether no step waits to be gone back over, the one just taken included."""
        engine = self.engine
        return engine is None or (not engine.steps and engine.recorder.current is None)

    @property
    def recording(self) -> Engine | None:
        """The engine, if the step under way is among the last B of its K."""
        if self.engine is None or self.lookahead:
            return None
        last = self.every is None or self.clock.since_update >= self.every - self.engine.through
        return self.engine if last else None

    @property
    def due(self) -> bool:
        """Whether the K steps are over, and there is something to go back over."""
        if self.engine is None or self.every is None or self.lookahead:
            return False
        return self.clock.since_update >= self.every and bool(self.engine.steps)

    def teach(self, batch: Batch | None = None) -> None:
        """Move the teacher along −∂M/∂ω through the recorded steps."""
        engine, teacher = self._learning()
        trusted = self._next_trusted() if batch is None else moved_to(batch, self.device)
        self._move(teacher, engine.meta_gradient(trusted, keep=False))
        engine.steps = []
        self._taught(engine, teacher, trusted)

    def meta_gradient(self, batch: Batch) -> Params:
        """∂M/∂ω through the recorded steps, by name; changes nothing."""
        engine, teacher = self._learning()
        trusted = moved_to(batch, self.device)
        return dict(zip(learned_by(teacher), engine.meta_gradient(trusted, keep=True), strict=True))

    def look_ahead(self, batch: Batch, ids: Tensor | None) -> None:
        """Before every K-th step, if asked: let the teacher learn through a virtual one."""
        due = self.lookahead and self.clock.steps % (self.every or 1) == 0
        engine, teacher = self.engine, self.teacher
        if due and engine is not None and teacher is not None:
            engine.recorder.look_again()
            trusted, move = self._next_trusted(), partial(self._move, teacher)
            known = self.known(batch, ids)
            teacher.look_ahead(Lookahead(engine, batch, trusted, known, move))
            self._taught(engine, teacher, trusted)

    def follow_trusted(self) -> None:
        """Every K steps a teacher that learns nothing, but keeps statistics, sees a trusted batch."""
        teacher, due = self.teacher, self.clock.since_update >= (self.every or 1)
        if self.engine is None and teacher is not None and listens(teacher) and due:
            show_trusted(teacher, self._look_at(self._next_trusted()))
            self.clock.taught()

    def _move(self, teacher: Teacher, gradient: list[Tensor]) -> None:
        assert self.optimizer is not None
        named = learned_by(teacher)
        check_meta_gradient(named, gradient)
        for p, d in zip(named.values(), gradient, strict=True):
            p.grad = d
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def _taught(self, engine: Engine, teacher: Teacher, trusted: Batch) -> None:
        """Show the teacher what the student saw of the trusted batch, its losses as in training."""
        if engine.seen_trusted is not None and listens(teacher):
            seen = engine.seen_trusted if self._same_loss else self._look_at(trusted)
            show_trusted(teacher, replace(seen, progress=self.clock.progress()))
        self.clock.taught()

    def _look_at(self, trusted: Batch) -> Seen:
        with in_trusted_batch():
            refuse_empty(trusted)
            return self.student.peek(trusted, Known(self.clock.progress()), loss=self._shown_loss)

    def _next_trusted(self) -> Batch:
        return moved_to(self._trusted.take(self.clock.updates), self.device)

    def _learning(self) -> tuple[Engine, Teacher]:
        if self.engine is None or self.teacher is None:
            raise UsageError("there is no teacher that learns: give teacher= and trusted=")
        if self.engine.steps:  # loaded from a checkpoint, before any step
            first = self.engine.steps[0].passes[0]
            self.prepare(first.batch, first.seen.ids)
        return self.engine, self.teacher


def _check_optimizer(optimizer: Optimizer, learned: list[nn.Parameter]) -> None:
    """The teacher's optimizer moves the teacher, all of it and nothing else."""
    if not isinstance(optimizer, Optimizer):
        raise UsageError(
            f"teacher_optimizer= must be an optimizer of the teacher's parameters, such as "
            f"torch.optim.Adam(teacher.parameters(), lr={LEARNING_RATE}), not {optimizer!r}"
        )
    held = {p for group in optimizer.param_groups for p in group["params"]}
    if not set(learned) <= held or any(p.requires_grad for p in held - set(learned)):
        raise UsageError(
            "teacher_optimizer= must hold the teacher's parameters and nothing else: build it with "
            "teacher.parameters()"
        )
