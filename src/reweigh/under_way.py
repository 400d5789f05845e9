"""The step under way: passes that were weighed, until the optimizer has moved.

A step is one pass, or several where gradients are accumulated; only the last one knows the
normaliser of all. The optimizer is watched by a step-pre-hook, so that what is noted of it
(learning rates, moments, gradients) belongs to the very step, whatever scheduler, scaler, closure
or framework stands around it.
"""

import weakref
from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.optim import Optimizer

from reweigh.errors import UnsupportedError, UsageError
from reweigh.figures import Figures


class StepUnderWay:
    """What the passes so far come to, and whether the optimizer has moved."""

    def __init__(
        self,
        optimizer: Optimizer,
        passes: int,
        normalise: str,
        about_to_move: Callable[[], None],
        has_moved: Callable[[], None],
    ) -> None:
        self.optimizer = optimizer
        self.passes = passes
        self.normalise = normalise
        self.weighed: list[Figures] = []
        self.moved = False
        self.skipped = False
        """Whether the last step was closed without the optimizer having moved."""
        self.retired = False
        self._about_to_move, self._has_moved = about_to_move, has_moved
        _retire_others(optimizer)
        self._hook = _hook(optimizer, self)

    @property
    def hooked(self) -> bool:
        """Whether others have step-pre-hooks on the optimizer; ours then comes last, and sees what
        they did to the gradient."""
        hooks = self.optimizer._optimizer_step_pre_hooks
        if len(hooks) == 1 or self._hook not in hooks:  # a copied optimizer has none of ours
            return False
        hooks[self._hook] = hooks.pop(self._hook)
        return True

    @property
    def complete(self) -> bool:
        """Whether every pass of the step has been weighed."""
        return len(self.weighed) == self.passes

    def add(self, one: Figures) -> None:
        """One more pass was weighed."""
        self.weighed.append(one)
        self.skipped = False

    def check_room(self) -> None:
        """Refuse a pass too many: somebody forgot to tell that the optimizer has stepped."""
        if self.retired:
            raise UsageError(
                "another Reweigher was built on this optimizer, and two would step through each other: "
                "go on with the newer one"
            )
        if self.complete:
            raise UsageError(
                f"{self.passes} pass(es) of this step were weighed already, by step(), loss() or "
                "weights(): call after_step() after every optimizer.step(), and also where the loop "
                "skips one; give accumulate= if the loop accumulates, and use weigh() to look at "
                "weights without a step"
            )

    def scale_gradients(self) -> Tensor:
        """Divide the accumulated gradients by Z, now that all of it is known; 1/Z."""
        scale = 1 / Figures.together(self.weighed).normaliser(self.normalise)
        for group in self.optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad.mul_(scale)
        return scale

    def close(self) -> tuple[list[Figures], bool]:
        """The step is over: its passes, and whether the optimizer moved (a scaler may skip)."""
        weighed, moved = self.weighed, self.moved
        self.weighed, self.moved = [], False
        return weighed, moved

    def _before_optimizer(self, optimizer: Optimizer, args: Any, kwargs: Any) -> Any:
        closure = kwargs.get("closure") if kwargs else None
        closure = args[1] if closure is None and len(args) > 1 else closure
        if closure is None:
            self._note()
            return None

        def then_note() -> Any:
            result = closure()  # forward and backward happen in here
            self._note()
            return result

        return args[:1], {"closure": then_note}

    def _note(self) -> None:
        if not self.weighed and self.skipped:
            raise UsageError(
                "optimizer.step() comes after after_step(), which took it for skipped: call "
                "after_step() after it, or the teacher never learns"
            )
        if not self.weighed or _is_skipped(self.optimizer):
            return
        if self.moved:
            raise UsageError(
                "optimizer.step() was called twice in one step: call after_step() after each"
            )
        self.moved = True
        self._about_to_move()


_WATCHING: weakref.WeakKeyDictionary[Optimizer, weakref.ref[StepUnderWay]] = (
    weakref.WeakKeyDictionary()
)


def _retire_others(optimizer: Optimizer) -> None:
    """The newest watches: a notebook builds one again and again."""
    last = _WATCHING.get(optimizer)
    if last is not None and (step := last()) is not None:
        step.retired = True


def _hook(optimizer: Optimizer, step: StepUnderWay) -> int:
    """Watch the optimizer for as long as the step's owner lives: an optimizer may outlive many."""
    watcher = _WATCHING[optimizer] = weakref.ref(step)

    def before(optimizer: Optimizer, args: Any, kwargs: Any) -> Any:
        alive = watcher()
        awake = alive is not None and not alive.retired
        return alive._before_optimizer(optimizer, args, kwargs) if alive and awake else None

    def after(optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        alive = watcher()
        if alive is not None and alive.moved:
            alive._has_moved()

    handle = optimizer.register_step_pre_hook(before)
    weakref.finalize(step, handle.remove)
    weakref.finalize(step, optimizer.register_step_post_hook(after).remove)
    return handle.id


def _is_skipped(optimizer: Optimizer) -> bool:
    """Whether a gradient scaler has a fused optimizer skip this step, inside its kernel."""
    if getattr(optimizer, "grad_scale", None) is not None:
        raise UnsupportedError(
            "a fused optimizer under a gradient scaler gets scaled gradients: call "
            "scaler.unscale_(optimizer) before scaler.step(optimizer), or build the optimizer with "
            "fused=False"
        )
    found = getattr(optimizer, "found_inf", None)
    return found is not None and bool(found)
