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
from reweigh.stepping.figures import Figures

LATE = 3
"""Steps in a row that come after after_step(), until it is taken for a mistake."""
OURS = "_of_reweigh"
"""What marks our hooks among others'."""


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
        self._late = 0
        self.begun = self.retired = False
        self._about_to_move, self._has_moved = about_to_move, has_moved
        self._hook = _hook(optimizer, self)

    def come_last(self) -> bool:
        """See what others' step-pre-hooks did to the gradient; whether there are any."""
        hooks = self.optimizer._optimizer_step_pre_hooks
        if self._hook not in hooks:  # a copied optimizer has none of ours
            return False
        hooks[self._hook] = hooks.pop(self._hook)
        return any(not hasattr(hook, OURS) for hook in hooks.values())

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
                "a newer Reweigher uses this optimizer, and two cannot share one; use the newer"
            )
        if not self.begun:
            self.begun = True
            _take_over(self)
        if self.complete:
            several = f"all {self.passes} batches of this step were"
            what = several if self.passes > 1 else "this step's batch was"
            raise UsageError(
                f"{what} weighed already: call after_step() after every optimizer.step() (also where a "
                "step is skipped), set accumulate= if you accumulate, or look at weights with peek()"
            )

    def scale_gradients(self) -> Tensor:
        """Divide the accumulated gradients by Z, now that all of it is known; 1/Z."""
        scale = 1 / Figures.together(self.weighed).normaliser(self.normalise)
        for group in self.optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:  # a student may be on several devices
                    p.grad.mul_(scale.to(p.grad.device))
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
            self._refuse_late()
        if not self.weighed or _is_skipped(self.optimizer):
            return
        if self.moved:
            raise UsageError(
                "optimizer.step() was called twice in one step: call after_step() after each"
            )
        self.moved, self._late = True, 0
        self._about_to_move()

    def _refuse_late(self) -> None:
        """A step of the optimizer after a skipped one may be for something else; not every time."""
        self._late, self.skipped = self._late + 1, False
        if self._late == LATE:
            raise UsageError(
                "after_step() was called before optimizer.step(), so the step was taken for skipped; "
                "call after_step() after it, or the teacher never learns"
            )


_WATCHING: weakref.WeakKeyDictionary[Optimizer, weakref.ref[StepUnderWay]] = (
    weakref.WeakKeyDictionary()
)


def _take_over(step: StepUnderWay) -> None:
    """Whoever steps last watches: a notebook builds one again and again."""
    last = _WATCHING.get(step.optimizer)
    if last is not None and (before := last()) is not None:
        before.retired = True
    _WATCHING[step.optimizer] = weakref.ref(step)


def _hook(optimizer: Optimizer, step: StepUnderWay) -> int:
    """Watch the optimizer for as long as the step's owner lives: an optimizer may outlive many."""
    watcher = weakref.ref(step)

    def before(optimizer: Optimizer, args: Any, kwargs: Any) -> Any:
        alive = watcher()
        awake = alive is not None and not alive.retired
        return alive._before_optimizer(optimizer, args, kwargs) if alive and awake else None

    def after(optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        alive = watcher()
        if alive is not None and alive.moved:
            alive._has_moved()

    setattr(before, OURS, True)
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
