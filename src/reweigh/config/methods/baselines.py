"""Plain training and what others have published: their settings, with where each default comes from."""

from typing import Literal, Self

from pydantic import Field, model_validator

from reweigh.config.methods.one import Count, OneMethod, Penalty, Rate, Share


class UniformConfig(OneMethod):
    """Plain training: every sample weighs the same."""

    name: Literal["uniform"] = "uniform"
    """Plain training: every sample weighs the same."""


class FocalConfig(OneMethod):
    """Focal loss: (1 − p_y)^γ times the cross entropy."""

    not_for_pairs = "(1 − p_y)^γ needs the probability of a class"
    name: Literal["focal"] = "focal"
    """Hard samples weigh more: (1 − p_y)^γ."""

    gamma: float = Field(default=1.0, ge=0, le=100)
    """γ; the paper searched 0.5, 1 and 2."""


class ClassBalancedConfig(OneMethod):
    """Class-balanced loss: rare classes weigh more, (1 − β) / (1 − β^n) by their n labels."""

    not_for_pairs = "it counts the labels of classes"
    name: Literal["class-balanced"] = "class-balanced"
    """Rare classes weigh more, by the effective number of their samples."""

    beta: float = Field(default=0.9999, ge=0, lt=1)
    """β; its authors search 0.9, 0.99, 0.999 and 0.9999. 0 is plain training, near 1 inverse frequency."""


class SelfPacedConfig(OneMethod):
    """Self-paced learning: the easiest share of each batch, growing linearly to all of it."""

    name: Literal["self-paced"] = "self-paced"
    """Easy samples first."""

    start_share: Share = 0.0
    """Share kept at the first step, never less than one sample (RL4Data: one sample)."""

    full_at: float = Field(default=0.5, gt=0, le=1)
    """Share of the run after which all samples are kept. Our choice: at 1, as in RL4Data, the hard
    samples come when a falling learning rate has nothing left for them."""

    per_class: bool = True
    """Easiest within each class of the batch, as RL4Data does, or within the batch."""

    normalise: bool = False
    """Kept samples share a whole step, however few they are, or each has its part of the batch."""


class L2TDataConfig(OneMethod):
    """Learning to teach, data: a keep-or-drop policy, REINFORCE over whole student trainings."""

    budget = "learned from {episodes} trial trainings, its authors take up to 5000"
    name: Literal["l2t-data"] = "l2t-data"
    """A policy keeps or drops samples; costs `episodes` trainings more than the others."""

    episodes: Count = 10
    """Student trainings before the final one. Our budget: the published code allows up to 5000."""

    policy: Literal["logistic", "mlp"] = "logistic"
    """Logistic regression or one tanh layer of 12 (RL4Data)."""

    keep_bias: float = Field(default=2.0, ge=-20, le=20)
    """First bias of the policy: keeps almost everything at first (RL4Data: 2)."""

    teacher_lr: Rate = 2e-3
    """Rate of the policy's SGD. Our choice: over 10 episodes as much as RL4Data's over all."""

    baseline_decay: Share = 0.2
    """Reward baseline rb ← decay·rb + (1 − decay)·r (RL4Data)."""

    thresholds: tuple[Share, ...] = Field(default=(0.906, 0.956, 1.0), min_length=1, strict=False)
    """Speed of reaching these shares of the first trial's best accuracy is the reward, 1:2:3…"""


class L2TLossConfig(OneMethod):
    """Learning to teach, loss: the teacher shapes the loss, learned through the student's steps."""

    not_for_pairs = "it shapes a loss over classes"
    budget = "looks back through {through} steps, its authors through 200"
    name: Literal["l2t-loss"] = "l2t-loss"
    """The teacher shapes the loss function."""

    teacher_lr: Rate = 0.01
    """Rate of the teacher's SGD (L2T_loss)."""

    every: Count = 20
    """Student steps per teacher step. Our budget: L2T_loss trains 200 from the start for each."""

    through: Count = 5
    """Student steps that one teacher step looks back through. Our budget: L2T_loss takes 200."""

    trusted_batch: Count = 128
    """Trusted samples per teacher step. Our choice."""

    pretrain: Share = 0.2
    """Share of the run on the plain loss. Our choice: L2T_loss takes 1000 steps of any run."""

    plain_share: Share = 0.0
    """α of the mix α·CE + (1 − α)·ℓ; L2T_loss offers 0.5."""

    @model_validator(mode="after")
    def _looks_back_within_reach(self) -> Self:
        if self.through > self.every:
            raise ValueError(f"through = {self.through} should not exceed every = {self.every}")
        return self


class MentorNetConfig(OneMethod):
    """MentorNet: a small network imitates a predefined (pd) or a data-driven (dd) curriculum."""

    not_for_pairs = "its mentor was made for losses of classes, and learns from labels"
    budget = "its mentor learns for {mentor_steps} steps, its authors' for 30,000"
    name: Literal["mentornet"] = "mentornet"
    """A mentor network turns losses and progress into weights."""

    kind: Literal["pd", "dd"] = "pd"
    """Predefined curriculum, or learned from the trusted set."""

    loss_percentile: float = Field(default=0.75, gt=0, lt=1)
    """Percentile of the loss that is the bar (PD 0.75; DD 0.8, 0.6, 0.5 at noise 0.2, 0.4, 0.8).

    We keep 0.75 for both: the noise is not known."""

    average_decay: Share = 0.5
    """Decay of the moving average of that percentile (MentorNet)."""

    burn_in: Share | None = None
    """Share of the run with all weights 1; unset: 0 for pd, 0.18 for dd (MentorNet)."""

    early_dropout: Share = 0.5
    """Share of samples dropped at random in the first 17 % of the run (MentorNet)."""

    late_dropout: Share = 0.05
    """Share of samples dropped at random after that (MentorNet)."""

    mentor_steps: Count = 1000
    """Steps of the mentor's own training. Our budget: the published code takes 30,000."""

    mentor_lr: Rate = 0.1
    """First rate of the mentor's Adam, decayed by 0.9 in stairs (MentorNet)."""

    mentor_batch: Count = 256
    """Batch of the mentor's training. Ours, with the fewer steps: the published code takes 32."""

    trusted_batch: Count = 128
    """Trusted samples per look of dd's mentor, of 32 looks at most. Our choice."""


class MetaWeightNetConfig(OneMethod):
    """Meta-Weight-Net: a curve from loss to weight, learned through one plain SGD step."""

    budget = "its authors let the student learn for about 59,000 steps"
    name: Literal["meta-weight-net"] = "meta-weight-net"
    """A curve from loss to weight, learned from the trusted set."""

    hidden: Count = 100
    """Hidden units of the curve 1 → hidden → 1 (Meta-Weight-Net)."""

    teacher_lr: Rate = 1e-3
    """Rate of the curve's Adam (its stable script)."""

    teacher_weight_decay: Penalty = 1e-4
    """Weight decay of the curve's Adam (its stable script)."""

    normalise: bool = False
    """Weights sum to 1 in the batch (its older script) or are divided by its size (stable)."""

    trusted_batch: Count = 100
    """Trusted samples per teacher step (Meta-Weight-Net)."""

    every: Count = 1
    """Student steps per teacher step (Meta-Weight-Net: 1)."""


class LearningToReweightConfig(OneMethod):
    """Learning to reweight (Ren 2018): weights from one meta-gradient at zero, fresh every step."""

    budget = "its authors let the student learn for 80,000 steps"
    name: Literal["learning-to-reweight"] = "learning-to-reweight"
    """Weights straight from the trusted gradient, with no teacher kept."""

    trusted_batch: Count = 100
    """Trusted samples per step (its code: 100)."""


class GoldLossCorrectionConfig(OneMethod):
    """Gold loss correction: a first student measures which class is taken for which; costs 2."""

    not_for_pairs = "it counts which class is taken for which"
    on_trusted = True
    name: Literal["gold-loss-correction"] = "gold-loss-correction"
    """Losses corrected by a matrix that a first training measured on the trusted samples, which are
    repeated until they are 10 % of the second one's stream (our choice)."""
