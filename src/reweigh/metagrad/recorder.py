"""Remembers the student's steps as they are taken, by whoever takes them."""

from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer
from torch.utils.hooks import RemovableHandle

from reweigh.errors import UsageError
from reweigh.metagrad.clipping import Clip
from reweigh.metagrad.directional import Derivatives
from reweigh.metagrad.rules import Rule
from reweigh.metagrad.steps import Pass, Step
from reweigh.moment import Moment
from reweigh.seen import Progress, Seen
from reweigh.student import Student
from reweigh.typing import Batch, Params


class Recorder:
    """Builds a `Step` out of its passes and of what the optimizer was about to do.

    The optimizer is watched through a step-pre-hook that lives from the step's first pass to its
    end, so that learning rates, moments and gradients are those of the very step, whatever
    scheduler, scaler or framework stands around it.
    """

    def __init__(
        self,
        student: Student,
        optimizer: Optimizer,
        rule: Rule,
        names: dict[Tensor, str],
        clip: Clip | None,
    ) -> None:
        self.student = student
        self.optimizer = optimizer
        self.rule = rule
        self.names = names
        self.clip = clip
        self.current: Step | None = None
        self._hook: RemovableHandle | None = None
        self._fired = False
        self.watch_gradient = False
        """Whether to copy the gradient that the optimizer gets (to check a loop that is not ours)."""
        self.taken: Params = {}

    def begin(self, *, snapshot: bool) -> Step:
        """The step under way; its first pass copies θ (unless that will be recovered)."""
        if self.current is None:
            theta = {n: p.detach().clone() for p, n in self.names.items()} if snapshot else None
            self.current = Step(theta=theta)
            self._fired = False
            self._hook = self.optimizer.register_step_pre_hook(self._about_to_step)
        return self.current

    def look(
        self, batch: Batch, progress: Progress, ids: Tensor | None, derivatives: Derivatives | None
    ) -> tuple[Seen, Moment, Params | None]:
        """The student's own forward pass, recorded; with `derivatives`, on leaves of its own.

        A kept graph must not see the optimizer's in-place update, so its pass runs on a copy of θ.
        """
        moment = Moment.now(self.student.module)
        if derivatives is None:
            return self.student.look(batch, progress, ids=ids), moment, None
        assert self.current is not None
        assert self.current.theta is not None
        leaves = {n: t.detach().requires_grad_() for n, t in self.current.theta.items()}
        with derivatives.kernels.second_order():
            return self.student.look(batch, progress, at=leaves, ids=ids), moment, leaves

    def add(self, one: Pass) -> None:
        """A pass of the step under way."""
        assert self.current is not None
        self.current.passes.append(one)

    def end(self) -> Step | None:
        """The finished step; None where the optimizer did not move (a scaler skipped it)."""
        step, self.current = self.current, None
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
        return step if step is not None and self._fired else None

    def _about_to_step(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        assert self.current is not None
        if len(args) > 1 or kwargs.get("closure") is not None:  # args[0] is the optimizer
            raise UsageError("optimizer.step(closure) is not supported: call step() without one")
        self._fired = True
        if self.watch_gradient:
            self.taken = self.gradients()
        for group in optimizer.param_groups:
            self.current.shares += self.rule.remember(optimizer, group, self.names)

    def keep_gradient(self) -> None:
        """Remember g as it stands in `.grad`, before clipping, if the way back will want it."""
        if self.current is not None and (self.rule.needs_gradient or self.clip is not None):
            self.current.gradient = self.gradients()

    def give(self, gradient: Params) -> None:
        """Add a kept graph's gradient to `.grad`, as a backward would."""
        for p, name in self.names.items():
            if name in gradient:
                g = gradient[name].detach()
                p.grad = g.clone() if p.grad is None else p.grad.add_(g)

    def gradients(self) -> Params:
        """`.grad` of every parameter that has one, copied."""
        return {n: p.grad.detach().clone() for p, n in self.names.items() if p.grad is not None}


def trainable(student: Student, optimizer: Optimizer) -> dict[Tensor, str]:
    """θ: the student's parameters that the optimizer moves, with their names."""
    known: dict[Tensor, str] = {p: name for name, p in student.module.named_parameters()}
    held = [p for group in optimizer.param_groups for p in group["params"]]
    strange = [tuple(p.shape) for p in held if p not in known]
    if strange:
        raise UsageError(
            f"the optimizer holds {len(strange)} parameter(s) that are not the student's (shapes "
            f"{strange[:3]}): put them into the student, or give them an optimizer of their own"
        )
    theta = {p: known[p] for p in held if p.requires_grad}
    if not theta:
        raise UsageError("the optimizer holds no trainable parameter of the student")
    if any(torch.is_complex(p) for p in theta):
        raise UsageError("complex parameters are not supported")
    return theta
