"""Lightning: a callback that builds the reweigher, and one line in `training_step`.

```python
class Classifier(L.LightningModule):
    def training_step(self, batch, index):
        return self.weighted_loss(*batch)

callback = Reweighing(teacher, trusted=trusted_loader, student="net")
L.Trainer(callbacks=[callback]).fit(model, loader)
```

A callback alone could not do it: it sees the loss only when it is one number already.
"""

import logging
import weakref
from typing import Any

import lightning as L  # pyright: ignore[reportMissingImports] (a framework of the user's)
from torch import Tensor, nn

from reweigh.errors import UnsupportedError, UsageError
from reweigh.reweigher import Reweigher
from reweigh.stepping import saved_lessons
from reweigh.stepping.trusted import Trusted
from reweigh.teachers.base import Teacher

log = logging.getLogger("reweigh")


class Reweighing(L.Callback):  # pyright: ignore[reportUntypedBaseClass]
    """Gives the module `weighted_loss(*batch)`, and has the teacher learn after its steps.

    Args:
        teacher, trusted, settings: as `Reweigher` has them; the trainer says how it accumulates,
            clips and how long it trains.
        student: the submodule that learns; "" for the module itself.
    """

    def __init__(
        self,
        teacher: Teacher | None,
        *,
        trusted: Trusted = None,
        student: str = "",
        **settings: Any,
    ) -> None:
        self.teacher, self.trusted, self.student = teacher, trusted, student
        self.settings = settings
        self.reweigher: Reweigher | None = None
        self._saved: dict[str, Any] = {}
        self._passes, self._asked, self._told = 1, False, False

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Build the reweigher; the trainer has its optimizer by now."""
        _refuse(trainer, pl_module)
        pl_module.weighted_loss = WeightedLoss(self)
        self._passes = trainer.accumulate_grad_batches
        settings = {
            "trusted": self.trusted,
            "accumulate": self._passes,
            "clip_norm": trainer.gradient_clip_val or None,
            "total_steps": _whole(trainer.estimated_stepping_batches),
        } | self.settings
        student = self._student(pl_module)
        self.reweigher = Reweigher(student, trainer.optimizers[0], self.teacher, **settings)
        if self._saved:
            self.reweigher.load_state_dict(self._saved)
            self._saved = {}

    def loss(self, *batch: Any, ids: Tensor | None = None) -> Tensor:
        """The weighted loss of a batch; the trainer will divide it by its number of passes."""
        if self.reweigher is None:
            raise UsageError("weighted_loss is a training step's: there is none before training")
        self._asked = True
        return self._passes * self.reweigher.loss(*batch, ids=ids)

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """The optimizer may have stepped."""
        if not (self._asked or self._told) and outputs:  # it may skip a batch by None
            self._told = True
            log.warning(
                "training_step returned a loss of its own, so nothing was weighed: return "
                "self.weighted_loss(*batch)"
            )
        if self.reweigher is not None and self.reweigher.step_is_over:
            self.reweigher.after_step()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Nothing of ours stays on the module."""
        vars(pl_module).pop("weighted_loss", None)

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Neither where training breaks off."""
        self.on_train_end(trainer, pl_module)

    def state_dict(self) -> dict[str, Any]:
        """Of the reweigher, for the trainer's checkpoint, also inside an accumulated step.

        What was accumulated is lost, as it is in the trainer's own part of the checkpoint.
        """
        return self._saved if self.reweigher is None else saved_lessons.save(self.reweigher.lessons)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Kept until training starts."""
        self._saved = state_dict

    def _student(self, module: nn.Module) -> nn.Module:
        children = dict(module.named_modules())
        if self.student not in children:  # "" is the module itself
            own = ", ".join(name for name, _ in module.named_children())
            raise UsageError(f"the module has no part {self.student!r} to learn; it has {own}")
        return children[self.student]


class WeightedLoss:
    """What stands on the module during training: a copy of the module, an average of it, say, does
    not copy the callback, the reweigher and the optimizer."""

    def __init__(self, callback: Reweighing | None = None) -> None:
        self._callback = (lambda: None) if callback is None else weakref.ref(callback)

    def __call__(self, *batch: Any, ids: Tensor | None = None) -> Tensor:
        callback = self._callback()
        if callback is None:
            raise UsageError("weighted_loss is that of the module in training, and this is a copy")
        return callback.loss(*batch, ids=ids)

    def __deepcopy__(self, memo: dict[int, Any]) -> "WeightedLoss":
        return WeightedLoss()

    def __reduce__(self) -> tuple[type["WeightedLoss"], tuple[()]]:
        return WeightedLoss, ()


def _refuse(trainer: Any, module: Any) -> None:
    if not module.automatic_optimization:
        raise UnsupportedError(
            "a module with manual optimization calls Reweigher.step(x, y) by itself: no callback is "
            "needed"
        )
    if len(trainer.optimizers) != 1:
        raise UnsupportedError(
            f"the module has {len(trainer.optimizers)} optimizers: one that moves the student is needed"
        )
    if trainer.world_size > 1:
        raise UnsupportedError(
            "Lightning wraps modules of several processes in DDP, whose second backward is wrong: use "
            "Reweigher in a loop under torchrun, or devices=1"
        )
    if trainer.gradient_clip_val and trainer.gradient_clip_algorithm not in (None, "norm"):
        raise UnsupportedError(
            "gradients can be clipped by their norm only: gradient_clip_algorithm"
        )
    if trainer.gradient_clip_val and trainer.accumulate_grad_batches > 1:
        raise UnsupportedError(
            "the trainer clips before the weights of an accumulated step are normalised: leave "
            "gradient_clip_val out and give the callback clip_norm="
        )


def _whole(steps: float) -> int | None:
    return int(steps) if steps != float("inf") else None
