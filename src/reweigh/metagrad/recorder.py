"""Remembers the student's steps as they are taken, by whoever takes them."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.nn.parameter import is_lazy
from torch.optim import Optimizer

from reweigh.errors import UnsupportedError, UsageError
from reweigh.metagrad.clipping import Clip
from reweigh.metagrad.kernels import Kernels
from reweigh.metagrad.lean.wanted import Wanted
from reweigh.metagrad.rules import Rule
from reweigh.metagrad.steps import Pass, Step, leaves_of
from reweigh.student.moment import Moment
from reweigh.student.student import Student
from reweigh.typing import Params


class Recorder:
    """Builds a `Step` out of its passes and of what the optimizer was about to do."""

    def __init__(
        self, student: Student, optimizer: Optimizer, rule: Rule, clip: Clip | None
    ) -> None:
        self.student = student
        self.optimizer = optimizer
        self.rule = rule
        self.clip = clip
        self.names = trainable(student, optimizer)
        self.current: Step | None = None
        self.watch_gradient = False
        """Whether to copy the gradient that the optimizer gets (to check a loop that is not ours)."""
        self.taken: Params = {}

    def begin(self, *, snapshot: bool) -> None:
        """The first pass of a step copies θ, unless that will be recovered."""
        if self.current is None:
            self.look_again()
            self.current = Step(theta=_copied(self.names) if snapshot else None)
            self.current.begins = self.norms()

    def look_again(self) -> None:
        """What θ is now: layers may have been frozen, unfrozen or added since."""
        self.names = trainable(self.student, self.optimizer)

    @contextmanager
    def on_leaves(self, moment: Moment, kernels: Kernels, wanted: Wanted) -> Iterator[Params]:
        """Inside, the student stands on the copy of θ, so that its graph outlives the update.

        The optimizer moves θ in place, and a student may write into its buffers in place; a kept
        graph must see neither. What the pass leaves in the buffers' copies is copied back.
        """
        assert self.current is not None
        assert self.current.theta is not None
        leaves = leaves_of(self.current.theta)
        buffers = moment.fresh_buffers()
        with self.student.at(leaves, buffers), kernels.second_order(wanted):
            yield leaves
        self.student.leave(buffers)

    def add(self, one: Pass) -> None:
        """A pass of the step under way."""
        assert self.current is not None
        self.current.passes.append(one)

    def note_scale(self, scale: Tensor) -> None:
        """1/Z of the step under way: known when all its passes are done."""
        if self.current is not None:
            self.current.scale = scale

    def note_end(self) -> None:
        """The optimizer has just moved."""
        if self.current is not None:
            self.current.ends = self.norms()

    @torch.no_grad()
    def norms(self) -> Tensor:
        """Of θ's tensors, (m,), on its device: nothing is waited for."""
        device = next(iter(self.names)).device
        found = torch._foreach_norm([p.detach() for p in self.names])  # pyright: ignore[reportPrivateImportUsage] (as torch.optim does it)
        return torch.stack([norm.float().to(device) for norm in found])

    def remember(self) -> None:
        """The optimizer is about to move: note its settings, its state and the gradient it gets."""
        if self.current is None:
            return
        if self.watch_gradient:
            self.taken = self.gradients()
        if self.current.gradient is None and self.clip is None:
            self.keep_gradient()
        for group in self.optimizer.param_groups:
            self.current.shares += self.rule.remember(self.optimizer, group, self.names)

    def end(self) -> Step | None:
        """The step that has been taken, if it was recorded."""
        step, self.current = self.current, None
        return step

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


def _copied(names: dict[Tensor, str]) -> Params:
    """θ as views of one copy per device and type: one allocation, and on GPUs one kernel.

    Tensors in other layouts (channels_last) are copied as they are, so that they keep them. By their
    strides: of one input channel, a weight is contiguous and channels_last at once, and a convolution
    takes its layout from the strides.
    """
    result: Params = {}
    alike: dict[tuple[torch.device, torch.dtype], list[Tensor]] = {}
    for p, name in names.items():
        if p.stride() == torch.empty(p.shape, device="meta").stride():
            alike.setdefault((p.device, p.dtype), []).append(p)
        else:
            result[name] = p.detach().clone()
    for params in alike.values():
        flat = torch.cat([p.detach().reshape(-1) for p in params])
        parts = flat.split([p.numel() for p in params])
        result |= {names[p]: part.view(p.shape) for p, part in zip(params, parts, strict=True)}
    return result


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
    _refuse_odd(theta)
    others = [name for p, name in known.items() if p.requires_grad and p not in theta]
    if others:
        raise UnsupportedError(
            f"parameter {others[0]!r} of the student is trainable, but the optimizer does not hold "
            "it: freeze it (requires_grad_(False)) or give it to the same optimizer"
        )
    return theta


def _refuse_odd(theta: dict[Tensor, str]) -> None:
    for p, name in theta.items():
        if is_lazy(p):
            raise UsageError(
                f"parameter {name!r} has no shape yet: run one batch through the student first"
            )
        if torch.is_complex(p):
            raise UnsupportedError(f"parameter {name!r} is complex: only real ones are supported")
        if p._backward_hooks or getattr(p, "_post_accumulate_grad_hooks", None):
            raise UnsupportedError(
                f"parameter {name!r} has a gradient hook, which a replay would not run: remove it, "
                "or put its effect into the loss"
            )
