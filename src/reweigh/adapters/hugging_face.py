"""Hugging Face: a `Trainer` whose training loss is weighted.

```python
trainer = ReweighingTrainer(
    model, arguments, train_dataset=data, teacher=teacher, trusted=trusted_loader
)
trainer.train()
```

Batches are dicts; the model's own loss is not asked for, since it is one number.
"""

from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import (  # pyright: ignore[reportMissingImports] (a framework of the user's)
    Trainer,
    TrainerCallback,
)
from transformers.trainer_utils import (  # pyright: ignore[reportMissingImports] (its own)
    get_last_checkpoint,
)

from reweigh.errors import CheckpointError, UnsupportedError
from reweigh.replacing import replacing
from reweigh.reweigher import Reweigher
from reweigh.stepping.trusted import Trusted
from reweigh.student.batch import as_numbers
from reweigh.teachers.base import Teacher
from reweigh.typing import Batch, Losses

STATE = "reweigher.pt"


def logits(student: nn.Module, batch: Batch) -> Tensor:
    """What a model for classification answers to a batch, (n, C); not shown what is told of it."""
    told = ("labels", "trusted")
    return student(**{name: part for name, part in batch.items() if name not in told}).logits


def classification_loss(student: nn.Module, batch: Batch) -> Losses:
    """Cross-entropy of each sample, (n,)."""
    return F.cross_entropy(logits(student, batch), as_numbers(batch["labels"]), reduction="none")


class ReweighingTrainer(Trainer):  # pyright: ignore[reportUntypedBaseClass]
    """A `Trainer` with a teacher.

    Args:
        teacher, trusted: as `Reweigher` has them; a posterior teacher is built with `logits=logits`
            of this module.
        reweighing: further settings of `Reweigher`; the training arguments say how it accumulates
            and clips. `per_sample_loss` is `classification_loss` unless given.
    """

    loss_is_scaled_for_ga = True  # not to be divided by the number of passes

    def __init__(
        self,
        *arguments: Any,
        teacher: Teacher | None,
        trusted: Trusted = None,
        reweighing: dict[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(*arguments, **settings)
        self.teacher, self.trusted = teacher, trusted
        self.reweighing = {"per_sample_loss": classification_loss, **(reweighing or {})}
        self.reweigher: Reweigher | None = None
        self._resumed: Path | None = None
        self.add_callback(_Following(self))

    def train(self, resume_from_checkpoint: Any = None, *arguments: Any, **settings: Any) -> Any:
        """As the trainer does; a checkpoint of ours brings the teacher back as well."""
        found = resume_from_checkpoint
        if found is True:
            found = get_last_checkpoint(self.args.output_dir)
        self._resumed = Path(found) if found else None
        return super().train(resume_from_checkpoint, *arguments, **settings)

    def compute_loss(
        self,
        model: nn.Module,
        inputs: Any,
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """Weighted while training, the trainer's own while evaluating."""
        if self.reweigher is None or return_outputs or not torch.is_grad_enabled():
            return super().compute_loss(
                model, inputs, return_outputs=return_outputs, num_items_in_batch=num_items_in_batch
            )
        return self.reweigher.loss(inputs)

    def begin(self, optimizer: Any) -> None:
        """Build the reweigher, once the optimizer is there."""
        _refuse(self)
        settings = {
            "trusted": self.trusted,
            "accumulate": self.args.gradient_accumulation_steps,
            "total_steps": self.state.max_steps,
            "clip_norm": self.args.max_grad_norm or None,
        } | self.reweighing
        wrapped = getattr(optimizer, "optimizer", optimizer)  # by accelerate
        student: Any = self.model
        self.reweigher = Reweigher(student, wrapped, self.teacher, **settings)
        if self._resumed is not None:
            self.reweigher.load_state_dict(_read(self._resumed / STATE))


class _Following(TrainerCallback):  # pyright: ignore[reportUntypedBaseClass]
    """Tells the reweigher what the trainer does."""

    def __init__(self, trainer: ReweighingTrainer) -> None:
        self.trainer = trainer

    def on_train_begin(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        self.trainer.begin(rest["optimizer"])

    def on_step_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        if self.trainer.reweigher is not None:
            self.trainer.reweigher.after_step()

    def on_save(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        if self.trainer.reweigher is not None and folder.is_dir():
            with replacing(folder / STATE) as beside:
                torch.save(self.trainer.reweigher.state_dict(), beside)

    def on_train_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        self.trainer.reweigher = None


def _read(file: Path) -> dict[str, Any]:
    if not file.is_file():
        raise CheckpointError(f"{file} is missing: the checkpoint was made without a teacher")
    return torch.load(file, weights_only=True)


def _refuse(trainer: ReweighingTrainer) -> None:
    args = trainer.args
    smoothed = args.label_smoothing_factor or getattr(trainer, "compute_loss_func", None)
    if smoothed and trainer.reweighing["per_sample_loss"] is classification_loss:
        raise UnsupportedError(
            "label_smoothing_factor and compute_loss_func make one number of a batch, and weights need "
            "a loss for each sample: give reweighing={'per_sample_loss': f} that does the same"
        )
    if args.world_size > 1 or args.n_gpu > 1:
        raise UnsupportedError(
            "the Trainer wraps models of several processes or GPUs, whose second backward is wrong: use "
            "Reweigher in a loop under torchrun, or one GPU (CUDA_VISIBLE_DEVICES=0)"
        )
    if args.max_grad_norm and args.gradient_accumulation_steps > 1:
        raise UnsupportedError(
            "the Trainer clips before the weights of an accumulated step are normalised: set "
            "max_grad_norm=0 and give reweighing={'clip_norm': 1.0}"
        )
    if not hasattr(Trainer, "loss_is_scaled_for_ga") and args.gradient_accumulation_steps > 1:
        raise UnsupportedError(
            "this version of transformers divides the loss by the number of passes: update it, or "
            "set gradient_accumulation_steps=1"
        )
