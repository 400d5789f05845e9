"""Settings of a run that translates: text, a Transformer, and how it is optimised.

Defaults are fairseq's recipe for IWSLT'14 where it gives one (Adam 5e-4 with β₂ = 0.98, inverse
square root after 4,000 steps, label smoothing 0.1, decay 1e-4, 4,096 tokens, beam 5); the rest are
our choices. The paper then fine-tunes under a teacher with momentum SGD at 1e-3:

    [student]
    start = "runs/pretrained"
    [training]
    optimizer = "sgd"
    lr = 1e-3
    schedule = "constant"
"""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from reweigh.config.methods import DeepConfig, MethodConfig
from reweigh.config.run import Common
from reweigh.config.section import Section
from reweigh.config.training import OptimiserConfig

OF_PAIRS: dict[str, Any] = {
    "teacher": "agreement", "every": 5, "teacher_lr": 0.01, "trusted_batch": 128,
}  # fmt: skip
"""What `deep` means where there are no classes."""


def _mask_noise(text: str) -> str:
    kind, *rates = text.split(":")
    if text == "none":
        return text
    try:
        sound = kind == "mask" and len(rates) in (1, 2) and all(0 <= float(r) <= 1 for r in rates)
    except ValueError:
        sound = False
    if not sound:
        raise ValueError("expected none, mask:P or mask:P:Q with rates from 0 to 1")
    return text


class TextConfig(Section):
    """The sentence pairs, their trusted part and the noise planted into the rest."""

    name: str = Field(default="multi30k", min_length=1)
    """A built-in name (`reweigh data list`), a folder with train.de, train.en, …, or a .tsv file."""

    dir: str | None = None
    """Where the files of a built-in set are; unset: $REWEIGH_DATA, then the known places."""

    source: str = Field(default="de", pattern=r"^[a-z]{2,3}$")
    """Language translated from."""

    target: str = Field(default="en", pattern=r"^[a-z]{2,3}$")
    """Language translated into."""

    lowercase: bool = True
    """Lower-case both sides, as the common IWSLT'14 recipe does."""

    tokenised: bool = False
    """The text is tokenised already, as Moses does it."""

    merges: int = Field(default=10_000, ge=1, le=1_000_000)
    """Merges of the byte-pair encoding, learned on both languages together."""

    vocabulary: str | None = None
    """A run's folder, or its vocabulary.json, whose pieces are taken; unset: learned on this text."""

    max_length: int = Field(default=175, ge=1, le=10_000)
    """Training pairs with more words on a side are left out."""

    max_ratio: float = Field(default=1.5, ge=1, le=1000)
    """Training pairs whose sides differ in length by more than this factor are left out."""

    trusted: int | None = Field(default=None, ge=1)
    """How many pairs of the validation set are trusted; unset: half of it, at most 1,000."""

    noise: Annotated[str, AfterValidator(_mask_noise)] = "none"
    """Planted: none, or mask:P:Q, where each pair with probability P loses each word with Q."""

    train_limit: int | None = Field(default=None, gt=0)
    """Seeded random subset of the training pairs of this size; unset: all."""

    seed: int | None = Field(default=None, ge=0, lt=2**63)
    """Seeds the subset, the trusted pairs and the noise; unset: the run's seed."""

    @property
    def truth_known(self) -> bool:
        """Whether it is known which pairs are right."""
        return self.noise != "none"


class TranslatorConfig(Section):
    """The Transformer that translates."""

    model: Literal["transformer-small", "transformer-iwslt"] = "transformer-small"
    """transformer-small (256/512, 3 + 3 layers, ours) or transformer-iwslt (512/1024, 6 + 6)."""

    dropout: float = Field(default=0.3, ge=0, lt=1)
    """Dropout of embeddings and of every layer."""

    start: str | None = None
    """A run's folder (its best student) or a .safetensors file to begin from; unset: at random."""

    options: dict[str, int | float | list[int]] = Field(default_factory=dict)
    """Other sizes than the model's: width, inner, heads, layers = [3, 3], attention_dropout."""


class TranslationTraining(OptimiserConfig):
    """How a translator is trained: batches of tokens, label smoothing, decoding."""

    epochs: int = Field(default=30, ge=1, le=100_000)
    """Passes over the training pairs, unless `updates` is given."""

    updates: int | None = Field(default=None, ge=1, le=100_000_000)
    """Length of the run in steps; an epoch that is cut short is reported like any other."""

    max_tokens: int = Field(default=4096, ge=1, le=10_000_000)
    """Padded tokens of a step on its longer side; the pairs in it decide its length."""

    optimizer: Literal["sgd", "adam", "adamw"] = "adamw"
    """The student's optimiser; what fairseq calls adam has its decay decoupled, as adamw."""

    lr: float = Field(default=5e-4, gt=0, le=100)
    """Learning rate before the schedule."""

    beta2: float = Field(default=0.98, gt=0, lt=1)
    """Decay of Adam's second average; sgd does not use it."""

    weight_decay: float = Field(default=1e-4, ge=0, le=1)
    """Weight decay, coupled for sgd and adam, decoupled for adamw."""

    schedule: str = Field(
        default="inverse-sqrt:4000",
        pattern=r"^(constant|cosine|step:[0-9.,]+|inverse-sqrt:[1-9][0-9]{0,8})$",
    )
    """constant, cosine, ÷10 at shares: step:0.5,0.75, or inverse-sqrt:STEPS of warm-up."""

    label_smoothing: float = Field(default=0.1, ge=0, lt=1)
    """Share of each target word's probability that is spread over the vocabulary."""

    average: int | None = Field(default=None, ge=2, le=1000)
    """Epochs, the last so many, whose students are averaged into the one that the run ends with."""

    beam: int = Field(default=5, ge=1, le=1000)
    """Beam of the translations that the run is scored by."""

    length_penalty: float = Field(default=1.0, ge=-10, le=10)
    """α of the score log p / T^α."""

    def length(self, steps_per_epoch: int) -> tuple[int, int]:
        """Epochs and steps of the run; the last epoch may be cut short by `updates`."""
        if self.updates is None:
            return super().length(steps_per_epoch)
        return -(-self.updates // steps_per_epoch), self.updates

    @property
    def betas(self) -> tuple[float, float]:
        """Decays of Adam's two averages."""
        return 0.9, self.beta2


class TranslationConfig(Common):
    """The complete settings of one run that translates."""

    task: Literal["translation"] = "translation"
    """The kind of work."""

    data: TextConfig = TextConfig()
    """What is learned from."""

    student: TranslatorConfig = TranslatorConfig()
    """The model that learns."""

    training: TranslationTraining = TranslationTraining()
    """How it is optimised."""

    method: MethodConfig = DeepConfig(**OF_PAIRS)
    """Who weighs the pairs; `name` chooses the method, the other keys are its own."""

    @model_validator(mode="before")
    @classmethod
    def _teacher_of_pairs(cls, values: Any) -> Any:
        """`deep` without a teacher means ours for pairs; that for classes corrects losses of classes."""
        method = values.get("method", {}) if isinstance(values, dict) else None
        if not isinstance(method, dict) or method.get("name", "deep") != "deep":
            return values
        given = {} if "teacher" in method else OF_PAIRS
        return {**values, "method": {"name": "deep", **given, **method}}

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        method = self.method
        if why := method.not_for_pairs:
            raise ValueError(f"method {method.name} cannot weigh sentence pairs: {why}")
        if isinstance(method, DeepConfig) and method.teacher in ("posterior", "margin"):
            raise ValueError(
                f"method.teacher = {method.teacher!r} needs classes; for sentence pairs there are "
                "agreement, interaction, linear and mlp"
            )
        return self
