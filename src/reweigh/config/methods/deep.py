"""The settings of the method that this package is about: a teacher on internal states."""

from typing import Literal, Self

from pydantic import Field, model_validator

from reweigh.config.methods.one import (
    TRUSTED_SHARE,
    Count,
    OneMethod,
    OwnCode,
    Penalty,
    Rate,
)

Feature = Literal["I0", "I1", "I2", "I3", "M0", "M1"]


class DeepConfig(OneMethod):
    """A teacher that judges by the student, learned through its steps; the paper's is `linear`."""

    name: Literal["deep"] = "deep"
    """The teacher sees the student's answers (posterior) or internal states (the others)."""

    teacher: (
        Literal["linear", "mlp", "interaction", "agreement", "posterior", "margin"] | OwnCode
    ) = "posterior"
    """linear and mlp are the paper's; interaction σ(I·A_y + b_y), agreement, margin and posterior are
    ours. posterior also corrects the loss, by a noise matrix that it learns on the way.
    `module:factory` is your own (runs that code)."""

    teacher_from: str | None = None
    """A run's folder whose teacher is taken over and frozen: it weighs and learns no more."""

    hidden_layers: int = Field(default=1, ge=0, le=8)
    """Hidden layers of the mlp teacher (paper: 0, 1 and 2)."""

    features: tuple[Feature, ...] = Field(default=("I0", "M0"), min_length=1, strict=False)
    """I0 input of the last layer, I1–I3 pooled maps of 8, 16, 32 px, M0 label, M1 progress; for
    linear, mlp and interaction: the other teachers have features of their own."""

    every: Count = 20
    """K: student steps per teacher step, as in the paper."""

    through: Count = 1
    """B: student steps that the meta-gradient looks back through. Our choice; the paper has 2."""

    deeper: bool = False
    """Differentiate the weights by the student too (∂w/∂θ ≠ 0); the paper sets that to 0."""

    teacher_optimizer: Literal["sgd", "adam"] = "adam"
    """Optimiser of the teacher. Our choice: the paper gives none."""

    teacher_lr: Rate = 0.03
    """Rate of the teacher. Our choice; for agreement and for the paper's teachers we take 0.01."""

    teacher_weight_decay: Penalty = 0.0
    """Weight decay of the teacher. Our choice."""

    trusted_share: float = Field(default=TRUSTED_SHARE, ge=0, lt=1)
    """Share of the training stream that are trusted samples, repeated as often as it takes and weighed
    like all others. Our choice; 0 in the paper."""

    trusted_batch: Count = 32
    """Trusted samples per meta-gradient. Our choice: for posterior, 32 are as good as 128; for other
    teachers we take 128. The whole set of 5,000 would cost 39 steps."""

    average: float | None = Field(default=None, ge=0, lt=1)
    """By whose answers the posterior teacher judges: a running average of the student, of which this
    much stays at a step. 0: the student itself. Unset: 0.9; 0 where an epoch has fewer than 20 steps,
    or 20 epochs or more go over images or rows that nothing augments, and with `deeper`. Our choice."""

    trajectory: Literal["auto", "kept", "snapshots", "reversal", "finite"] = "auto"
    """How past steps are revisited: kept graphs, snapshots, reversal (paper); auto by memory. finite
    takes differences of first derivatives, an approximation where second ones are missing."""

    @model_validator(mode="after")
    def _looks_back_within_reach(self) -> Self:
        if self.through > self.every:
            raise ValueError(f"through = {self.through} should not exceed every = {self.every}")
        if len(set(self.features)) < len(self.features):
            raise ValueError(f"features = {list(self.features)} names one twice")
        return self

    @model_validator(mode="after")
    def _uses_what_it_is_given(self) -> Self:
        own, kind = type(self).model_fields, self.teacher
        if kind != "mlp" and self.hidden_layers != own["hidden_layers"].default:
            raise ValueError(f"hidden_layers is for teacher = 'mlp', and teacher is {kind!r}")
        chosen = self.features != own["features"].default
        if chosen and kind not in ("linear", "mlp", "interaction"):
            raise ValueError(f"features is for other teachers: {kind!r} has features of its own")
        if self.average is not None and kind != "posterior":
            raise ValueError(f"average is for teacher = 'posterior', and teacher is {kind!r}")
        if self.average and self.deeper:
            raise ValueError(
                "deeper needs average = 0: no weight depends on the student through it"
            )
        return self
