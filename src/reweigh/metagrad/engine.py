"""The parts of the meta-gradient under one roof: record steps, then go back over them."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch import Tensor
from torch.optim import Optimizer

from reweigh.distributed.buckets import arriving
from reweigh.distributed.group import any_of, total
from reweigh.errors import UnsupportedError, UsageError
from reweigh.metagrad.clipping import Clip
from reweigh.metagrad.directional import Derivatives, FiniteDifferences
from reweigh.metagrad.guards import check_trusted, in_trusted_batch
from reweigh.metagrad.half import answers_in_float16, at_largest, loss_scale, times
from reweigh.metagrad.kept_pass import KeptPass
from reweigh.metagrad.kernels import Kernels
from reweigh.metagrad.lean.wanted import Wanted
from reweigh.metagrad.memory import choose_trajectory
from reweigh.metagrad.preflight import forward_mode, second_order
from reweigh.metagrad.recorder import Recorder
from reweigh.metagrad.recursion import Recursion
from reweigh.metagrad.replay_check import OutsideChecks, check_replay, tells_apart
from reweigh.metagrad.rules import rule_for
from reweigh.metagrad.steps import Pass, Step, leaves_of
from reweigh.metagrad.trajectory import (
    KINDS,
    Recorded,
    Reversed,
    check_reversible,
    velocities,
)
from reweigh.student.anatomy import modules_of
from reweigh.student.batch import refuse_empty
from reweigh.student.moment import Moment
from reweigh.student.seen import Known, Seen
from reweigh.student.student import Student
from reweigh.teachers.base import Teacher
from reweigh.typing import Batch, Params, PerSampleLoss

log = logging.getLogger("reweigh")


class Engine:
    """∂(trusted loss)/∂ω through the last B recorded steps of a student."""

    def __init__(
        self,
        student: Student,
        optimizer: Optimizer,
        teacher: Teacher,
        *,
        through: int,
        trajectory: str,
        deeper: bool,
        clip: Clip | None,
        trusted_loss: PerSampleLoss,
    ) -> None:
        if trajectory not in KINDS:
            raise UsageError(f"trajectory must be one of {', '.join(KINDS)}, not {trajectory!r}")
        if trajectory == "finite" and deeper:
            raise UnsupportedError("trajectory='finite' cannot carry deeper interaction")
        self.student, self.optimizer = student, optimizer
        self.through, self.trajectory = through, trajectory
        self.trusted_loss = trusted_loss
        self.rule = rule_for(optimizer)
        if trajectory == "reversal":
            check_reversible(self.rule, optimizer)
        kind = FiniteDifferences if trajectory == "finite" else Derivatives
        self.derivatives = kind(student, teacher, deeper=deeper)
        self.recorder = Recorder(student, optimizer, self.rule, clip)
        self.recursion = Recursion(self.derivatives, self.rule, clip)
        self.steps: list[Step] = []
        self._modules = modules_of(student.module)
        self._outside = OutsideChecks()
        self._told_of_changes = False
        self.seen_trusted: Seen | None = None
        """What the student saw of the last trusted batch, of this process's part."""

    def prepare(self, one: Pass, *, second: bool, keeps: bool) -> None:
        """Pre-flight on the first batch: kernels that work, and what to remember of a step.

        `second`: second backwards are needed, however few steps are gone back over. `keeps`: passes
        keep their graphs if memory allows, since it is us who go backward.
        """
        self.derivatives.in_float16 = answers_in_float16(self.student, one)
        if self.trajectory == "finite":
            log.info("meta-gradients by finite differences: approximate")
            return
        free_choice = self.trajectory == "auto"
        size = self._second_order(one, second)
        if free_choice:
            device = next(iter(self.recorder.names)).device
            kind, reason = choose_trajectory(size, self.through, device)
            lean = any_of("snapshots" in (kind, self.trajectory))  # all processes must do the same
            self.trajectory = "snapshots" if lean else kind
            log.info("trajectory: %s (%s)", self.trajectory, reason)
        self._forward_mode(one, never=keeps and self.trajectory == "kept")

    def _second_order(self, one: Pass, second: bool) -> int:
        """The bytes of a kept graph, if one may be wanted."""
        must = second or self.through > 1 or self.trajectory == "kept" or self.derivatives.deeper
        if not must and self.trajectory != "auto":
            return 0
        try:
            return second_order(self.derivatives, one, self.theta())
        except (UnsupportedError, torch.OutOfMemoryError):
            if must:
                raise
        one.graph = None  # B = 1 can do without a second backward
        self.trajectory, self.derivatives.kernels = "snapshots", Kernels()
        return 0

    def _forward_mode(self, one: Pass, *, never: bool) -> None:
        """Not asked for where every graph is kept: torch's first dual number takes half a second."""
        found = self.derivatives
        if not found.deeper and not never:
            forward_mode(found, one, self.theta())
        if found.kernels != Kernels():
            log.info("recorded steps and replays run with %s", found.kernels)
        if never:
            found.kernels = replace(found.kernels, forward_mode=False)

    def begin(self) -> Moment:
        """A step is about to be taken that will be gone back over; the moment of its pass."""
        watched = self.recorder.watch_gradient  # a replay needs θ
        before = self.recorder.names
        self.recorder.begin(snapshot=self.trajectory != "reversal" or watched)
        modules = modules_of(self.student.module)
        if self.recorder.names.keys() != before.keys() or modules != self._modules:
            self.steps, self._modules = [], modules
        return Moment.now(self.student.module)

    @contextmanager
    def keeping(self, moment: Moment) -> Iterator[KeptPass]:
        """A pass inside keeps its graph: it runs on a copy of θ that the optimizer does not move."""
        wanted = Wanted()
        with self.recorder.on_leaves(moment, self.derivatives.kernels, wanted) as leaves:
            yield KeptPass(self.derivatives, self.recorder, leaves, wanted)

    def watch_outside(self) -> None:
        """The loop goes backward by itself: its gradient is compared with a replay now and then."""
        self.recorder.watch_gradient = self._outside.wanted()

    def end(self) -> None:
        """The step has been taken; the last B stay."""
        step = self.recorder.end()
        if step is None:
            return
        if self.recorder.watch_gradient and self._outside.due(any_of(tells_apart(step))):
            check_replay(self.recursion, step, self.recorder.taken)
        self.recorder.watch_gradient, self.recorder.taken = False, {}
        self.steps = [*self.steps, step][-self.through :]

    def abandon(self) -> None:
        """Forget the step under way: it failed."""
        self.recorder.end()
        self.recorder.watch_gradient = False

    @torch.enable_grad()
    def meta_gradient(self, batch: Batch, *, keep: bool) -> list[Tensor]:
        """dω, one tensor per trainable parameter of the teacher, in its order."""
        if not self.steps:
            raise UsageError(
                "no recorded step to go back over: with every=K the last `through` of every K "
                "steps are recorded and used up by the teacher's update; use every=None to record "
                "always"
            )
        self._leave_out_changed()
        points = Recorded()
        if self.trajectory == "reversal":
            points = Reversed(self.theta(), velocities(self.optimizer, self.recorder.names))
        d_theta = self.trusted_gradient(batch, self.theta())
        return self.recursion.run(self.steps, points, d_theta, keep=keep)

    def _leave_out_changed(self) -> None:
        """Steps before a change of θ that no optimizer made cannot be gone back over."""
        if any_of(_moved_on(self.steps[-1].ends, self.recorder.norms())):
            raise UsageError(
                "parameters were changed after the last optimizer step, so the teacher cannot look back "
                "through it: call after_step() (or teach()) first, then change them, and not in an "
                "optimizer hook"
            )
        for t in reversed(range(1, len(self.steps))):
            if any_of(_moved_on(self.steps[t - 1].ends, self.steps[t].begins)):
                if not self._told_of_changes:
                    log.info(
                        "the loop changes θ between steps: the teacher looks back to there only"
                    )
                self._told_of_changes = True
                self.steps = self.steps[t:]
                return

    def theta(self) -> Params:
        """The student's present parameters, detached."""
        return {name: p.detach() for p, name in self.recorder.names.items()}

    def rates(self) -> dict[str, float]:
        """η of each parameter right now; negative where the optimizer goes uphill."""
        names, found = self.recorder.names, {}
        for group in self.optimizer.param_groups:
            rate = float(group["lr"]) * (-1 if group.get("maximize") else 1)
            found |= {names[p]: rate for p in group["params"] if p in names}
        return found

    @torch.enable_grad()
    def trusted_gradient(self, batch: Batch, theta: Params) -> Params:
        """∂M/∂θ: of the mean trusted loss, in the student's present mode, leaving no trace.

        The mean is over the trusted samples of all processes.
        """
        moment = self._present()
        leaves = leaves_of(theta)
        with (
            in_trusted_batch(),
            moment.again(self.student.module),
            self.student.at(leaves, moment.fresh_buffers()),
        ):
            refuse_empty(batch)
            seen = self.student.look(batch, Known(), self.trusted_loss)
            check_trusted(seen.losses)
            count = total(torch.full((), float(len(seen.losses)), device=seen.losses.device))
            scaled = self.derivatives.vanishing(moment)
            found = _gradient(seen.losses.sum() / count, leaves, scaled=scaled)
        self.seen_trusted = seen.detached()
        return found

    def _present(self) -> Moment:
        """Now, but under the autocast of the last recorded pass: a loop may have left it already."""
        moment = Moment.now(self.student.module)
        if not self.steps:
            return moment
        return replace(moment, autocast=self.steps[-1].passes[-1].moment.autocast)


def _gradient(value: Tensor, leaves: Params, *, scaled: bool) -> Params:
    """∂/∂leaves of the sum of all processes' values; 0 for what it does not reach."""

    def at(scale: float) -> Params:
        with arriving(leaves) as whole:
            found = torch.autograd.grad(
                times(scale, value),
                list(leaves.values()),
                retain_graph=scaled,
                allow_unused=True,
                materialize_grads=True,
            )
        gradient = whole(dict(zip(leaves, found, strict=True)))
        return {k: times(1 / scale, g) for k, g in gradient.items()}

    return at_largest(loss_scale(value), at, dict.values) if scaled else at(1.0)


def _moved_on(then: Tensor | None, now: Tensor | None) -> bool:
    """Whether θ differs by more than rounding; what nobody measured is taken to be the same."""
    if then is None or now is None or then.shape != now.shape:
        return False
    return bool(((now - then).abs() > 1e-6 * then.abs()).any())
