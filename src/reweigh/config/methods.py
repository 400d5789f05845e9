"""The settings of every method: `method.name` chooses one, the other keys belong to it.

Defaults are those of the paper or of the baseline's published code, named under each field;
"our choice" marks what no source gives.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import Discriminator, Field, Tag, model_validator

from reweigh.config.section import Section

Share = Annotated[float, Field(ge=0, le=1)]
Rate = Annotated[float, Field(gt=0, le=100)]
Count = Annotated[int, Field(ge=1, le=10_000_000)]
Penalty = Annotated[float, Field(ge=0, le=1)]
OwnCode = Annotated[str, Field(pattern=r"^\w[\w.]*:\w+$")]
"""`module:attribute`, importable from the current folder or PYTHONPATH."""
Option = bool | int | float | str

TRUSTED_SHARE = 0.1
"""Of the stream of whatever trains on trusted samples as well, unless it says otherwise. Our choice."""


class OneMethod(Section):
    """What is known of a method beside its settings."""

    on_trusted: ClassVar[bool] = False
    """Whether it has the trusted samples in its training stream, whatever its settings."""
    not_for_pairs: ClassVar[str] = ""
    """Why it makes no sense of sentence pairs, where it makes none."""


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


Feature = Literal["I0", "I1", "I2", "I3", "M0", "M1"]


class DeepConfig(OneMethod):
    """A teacher on the student's internal states, learned through its steps; the paper's is `linear`."""

    name: Literal["deep"] = "deep"
    """The teacher sees the student's internal states."""

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

    every: Count = 5
    """K: student steps per teacher step. Our choice; the paper has 20, too seldom for short runs."""

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

    trusted_batch: Count = 128
    """Trusted samples per meta-gradient. Our choice: the whole set of 5,000 would cost 39 steps."""

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
        if kind != "mlp" and ":" not in kind and self.hidden_layers != own["hidden_layers"].default:
            raise ValueError(f"hidden_layers is for teacher = 'mlp', and teacher is {kind!r}")
        chosen = self.features != own["features"].default
        if chosen and kind in ("posterior", "agreement", "margin"):
            raise ValueError(f"features is for other teachers: {kind!r} has features of its own")
        return self


class TrustedOnlyConfig(OneMethod):
    """Control: training on the trusted set alone."""

    on_trusted = True
    name: Literal["trusted-only"] = "trusted-only"
    """Control: the trusted set alone."""


class TrustedMixedConfig(OneMethod):
    """Control: the trusted samples mixed into the training set, repeated until they are 10 % of it."""

    on_trusted = True
    name: Literal["trusted-mixed"] = "trusted-mixed"
    """Control: the trusted set mixed into training, repeated until it is 10 % of the stream."""


class PerfectWeightsConfig(OneMethod):
    """Ceiling of any reweighting: 1 for a right label, 0 for a wrong one. Needs planted noise."""

    name: Literal["perfect-weights"] = "perfect-weights"
    """Ceiling of any reweighting: 1 for a right label, 0 for a wrong one."""


class PerfectMixedConfig(OneMethod):
    """Ceiling of any reweighting with the trusted samples mixed in. Needs planted noise."""

    on_trusted = True
    name: Literal["perfect-mixed"] = "perfect-mixed"
    """Ceiling of any reweighting that trains on the trusted samples, too: repeated until they are 10 %."""


class CleanLabelsConfig(OneMethod):
    """Ceiling of all: plain training on the true labels. Needs planted noise."""

    name: Literal["clean-labels"] = "clean-labels"
    """Ceiling of all: plain training on the true labels."""


class OwnConfig(OneMethod):
    """A method of one's own."""

    name: OwnCode
    """`module:Class`, a subclass of reweigh.methods.Method (runs that code)."""

    options: dict[str, Option | list[Option]] = Field(default_factory=dict)
    """Settings of its own, such as `gamma = 2.0`; `trusted_share` says that it trains on trusted
    samples."""


_Ours = (
    UniformConfig
    | FocalConfig
    | ClassBalancedConfig
    | SelfPacedConfig
    | L2TDataConfig
    | L2TLossConfig
    | MentorNetConfig
    | MetaWeightNetConfig
    | LearningToReweightConfig
    | GoldLossCorrectionConfig
    | DeepConfig
    | TrustedOnlyConfig
    | TrustedMixedConfig
    | PerfectWeightsConfig
    | PerfectMixedConfig
    | CleanLabelsConfig
)


def _whose(values: Any) -> str:
    name = values.get("name") if isinstance(values, dict) else getattr(values, "name", None)
    return "own" if ":" in str(name) else "ours"


MethodConfig = Annotated[
    Annotated[_Ours, Field(discriminator="name"), Tag("ours")] | Annotated[OwnConfig, Tag("own")],
    Discriminator(_whose),
]

METHODS: dict[str, type[OneMethod]] = {m.model_fields["name"].default: m for m in get_args(_Ours)}


def own_code(method: MethodConfig) -> str | None:
    """`module:attribute` of the user's own code that a method needs; None for ours."""
    named = (method.name, method.teacher if isinstance(method, DeepConfig) else "")
    return next((name for name in named if ":" in name), None)


def trains_on_trusted(method: Mapping[str, Any]) -> bool:
    """Whether a method, by its settings, has the trusted samples in its training stream.

    What it makes of them is then no measure of how well it does on others.
    """
    kind = METHODS.get(method["name"])  # None for the user's own
    settings = method if kind else method.get("options", {})
    return bool((kind and kind.on_trusted) or settings.get("trusted_share"))
