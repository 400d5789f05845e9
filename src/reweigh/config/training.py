"""How the student is optimised: the same for every method of a comparison.

Momentum 0.9 and weight decay 5e-4 are Meta-Weight-Net's, batch 128 the paper's. The paper gives
neither weight decay nor Nesterov; those, the epochs, the rate and the schedule are our choices.
"""

from typing import Literal, Self

from pydantic import Field, model_validator

from reweigh.config.section import Section


class OptimiserConfig(Section):
    """What all kinds of work have: epochs, the optimiser and its schedule."""

    epochs: int = Field(default=15, ge=1, le=100_000)
    """Passes over the training samples."""

    optimizer: Literal["sgd", "adam", "adamw"] = "sgd"
    """The student's optimiser."""

    lr: float = Field(default=0.05, gt=0, le=100)
    """Learning rate before the schedule."""

    momentum: float = Field(default=0.9, ge=0, lt=1)
    """Momentum of SGD; the others do not use it."""

    nesterov: bool = False
    """Nesterov's form of momentum."""

    weight_decay: float = Field(default=5e-4, ge=0, le=1)
    """Weight decay, coupled for sgd and adam, decoupled for adamw."""

    schedule: str = Field(
        default="cosine",
        pattern=r"^(constant|cosine|paper-clean|paper-uniform|paper-flip|step:[0-9.,]+"
        r"|inverse-sqrt:[1-9][0-9]{0,8})$",
    )
    """constant, cosine, paper-clean, paper-uniform, paper-flip, ÷10 at shares: step:0.5,0.75, or
    inverse-sqrt:STEPS of warm-up."""

    warmup_epochs: float = Field(default=0.0, ge=0)
    """Epochs of linear warm-up before the schedule."""

    clip_norm: float | None = Field(default=None, gt=0)
    """Largest norm of the student's gradient; unset: no clipping."""

    bf16: bool = False
    """Forward passes under bfloat16 autocast."""

    checkpoint_every: int = Field(default=1, ge=1, le=100_000)
    """Epochs between checkpoints; the last one is always saved, and a run that is asked to stop."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.nesterov and (self.optimizer != "sgd" or self.momentum == 0):
            raise ValueError("nesterov = true needs optimizer = 'sgd' with momentum > 0")
        if self.warmup_epochs > self.epochs:
            raise ValueError(f"warmup_epochs = {self.warmup_epochs} exceeds epochs = {self.epochs}")
        if self.warmup_epochs and self.schedule.startswith("inverse-sqrt"):
            raise ValueError(
                "warmup_epochs is not for inverse-sqrt:STEPS, which warms up by itself"
            )
        return self

    def length(self, steps_per_epoch: int) -> tuple[int, int]:
        """Epochs and steps of the run."""
        return self.epochs, self.epochs * steps_per_epoch

    @property
    def betas(self) -> tuple[float, float]:
        """Decays of Adam's two averages: torch's own."""
        return 0.9, 0.999


class TrainingConfig(OptimiserConfig):
    """How a classifier is trained: batches of samples, and what is done to images."""

    batch_size: int = Field(default=128, ge=1, le=1_000_000)
    """Samples per step."""

    augment: Literal["auto", "none", "crop-flip"] = "auto"
    """Shifts and mirrors of images; auto: for colour images, not for grey ones."""

    channels_last: bool = False
    """Images in channels_last memory format."""

    sync_batch_norm: bool | None = None
    """Batch normalisation over the batch of all processes; unset: each over its own part."""
