"""The parts of the meta-gradient under one roof: record steps, then go back over them."""

import logging
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from reweigh.errors import UnsupportedError, UsageError
from reweigh.metagrad.clipping import Clip
from reweigh.metagrad.directional import Derivatives, FiniteDifferences
from reweigh.metagrad.memory import choose_trajectory
from reweigh.metagrad.preflight import preflight
from reweigh.metagrad.recorder import Recorder, trainable
from reweigh.metagrad.recursion import Recursion
from reweigh.metagrad.rules import rule_for
from reweigh.metagrad.steps import Pass, Step
from reweigh.metagrad.trajectory import (
    KINDS,
    Recorded,
    Reversed,
    check_reversible,
    velocities,
)
from reweigh.moment import Moment
from reweigh.seen import Seen
from reweigh.student import Student
from reweigh.teachers.base import Teacher
from reweigh.typing import Batch, Params

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
        derivatives: str,
        deeper: bool,
        clip: Clip | None,
    ) -> None:
        self.student, self.optimizer = student, optimizer
        self.through = through
        self.rule = rule_for(optimizer)
        self.names = trainable(student, optimizer)
        self.trajectory = _checked(trajectory, derivatives, deeper)
        if trajectory == "reversal":
            check_reversible(self.rule, optimizer)
        kind = FiniteDifferences if derivatives == "finite" else Derivatives
        self.derivatives = kind(student, teacher, deeper=deeper)
        self.recorder = Recorder(student, optimizer, self.rule, self.names, clip)
        self.recursion = Recursion(self.derivatives, self.rule, clip)
        self.steps: list[Step] = []
        self._outside_checked = False

    def prepare(self, one: Pass) -> None:
        """Pre-flight on the first batch: kernels that work, and what to remember of a step."""
        if isinstance(self.derivatives, FiniteDifferences):
            log.info("meta-gradients by finite differences: approximate")
            return
        theta = self._theta()
        try:
            second = self.trajectory in ("auto", "kept") or self.through > 1
            size = preflight(self.derivatives, one, theta, second=second, forward=True)
        except UnsupportedError:
            if self.through > 1 or self.trajectory == "kept":
                raise
            size = preflight(self.derivatives, one, theta, second=False, forward=True)
            self.trajectory = "snapshots"
        if self.trajectory == "auto":
            device = next(iter(theta.values())).device
            self.trajectory, reason = choose_trajectory(size, self.through, device)
            log.info("trajectory: %s (%s)", self.trajectory, reason)

    def begin(self) -> None:
        """A step is about to be taken that will be gone back over."""
        self.recorder.begin(snapshot=self.trajectory != "reversal")

    def keep_graph(self, one: Pass, seen: Seen, leaves: Params) -> None:
        """Go backward over a pass so that its graph stays, and give the student its gradient."""
        one.graph = self.derivatives.graph(seen, leaves, self.derivatives.levers(one.weights))
        one.graph.kept = True
        self.recorder.give(one.graph.gradient)

    def watch_outside(self) -> None:
        """The loop goes backward by itself: check its first gradient against a replay."""
        self.recorder.watch_gradient = not self._outside_checked

    def end(self) -> None:
        """The step has been taken; the last B stay."""
        step = self.recorder.end()
        if step is not None and self.recorder.watch_gradient:
            self.recorder.watch_gradient = False
            self._outside_checked = True
            self.check_replay(step, self.recorder.taken)
        if step is not None:
            self.steps = [*self.steps, step][-self.through :]

    def meta_gradient(self, batch: Batch, *, keep: bool) -> list[Tensor]:
        """dω, one tensor per trainable parameter of the teacher, in its order."""
        if not self.steps:
            raise UsageError(
                "no recorded step to go back over: with every=K the last `through` of every K steps "
                "are recorded and used up by the teacher's update; use every=None to record always"
            )
        points = Recorded()
        if self.trajectory == "reversal":
            points = Reversed(self._theta(), velocities(self.optimizer, self.names))
        return self.recursion.run(self.steps, points, self._trusted_gradient(batch), keep=keep)

    def check_replay(self, step: Step, taken: Params) -> None:
        """Compare a replayed gradient with the one that the optimizer got from the loop outside."""
        g: Params = {}
        assert step.theta is not None
        for one in step.passes:
            for name, value in self.derivatives.gradient(one, step.theta).items():
                g[name] = g.get(name, 0) + step.scale * value
            one.graph = None
        clipped = self.recursion.clipped(g) or {}
        off = sum(float((clipped[n] - taken[n]).square().sum()) for n in taken if n in clipped)
        size = sum(float(t.square().sum()) for t in taken.values())
        if off > 0.05**2 * size:
            raise UsageError(
                f"the gradient that the optimizer got differs by {(off / size) ** 0.5:.0%} from the "
                "gradient of (weights * losses).sum() done again: multiply the losses by the weights "
                "and take the sum, call weights() right before the forward pass, give clip_norm= if "
                "the loop clips and accumulate= if it accumulates"
            )

    def _theta(self) -> Params:
        return {name: p.detach() for p, name in self.names.items()}

    def _trusted_gradient(self, batch: Batch) -> Params:
        """∂M/∂θ_K: the mean trusted loss, in the student's present mode, leaving no trace."""
        moment = Moment.now(self.student.module)
        leaves = {n: t.clone().requires_grad_() for n, t in self._theta().items()}
        with moment.again(self.student.module), torch.enable_grad():
            losses = self.student.losses(batch, leaves, moment.fresh_buffers())
            found: Any = torch.autograd.grad(
                losses.mean(), list(leaves.values()), allow_unused=True, materialize_grads=True
            )
        return dict(zip(leaves, found, strict=True))


def _checked(trajectory: str, derivatives: str, deeper: bool) -> str:
    if trajectory not in KINDS:
        raise UsageError(f"trajectory must be one of {', '.join(KINDS)}, not {trajectory!r}")
    if derivatives not in ("exact", "finite"):
        raise UsageError(f"derivatives must be 'exact' or 'finite', not {derivatives!r}")
    if derivatives == "finite" and deeper:
        raise UnsupportedError("derivatives='finite' cannot carry deeper interaction: use 'exact'")
    return "snapshots" if derivatives == "finite" else trajectory
