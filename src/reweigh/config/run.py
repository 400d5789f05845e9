"""One run: everything that its result depends on, in one tree."""

from typing import Any, Literal

from pydantic import Field, model_validator

from reweigh.config.data import DataConfig
from reweigh.config.methods import DeepConfig, MethodConfig
from reweigh.config.section import Section
from reweigh.config.student import StudentConfig
from reweigh.config.training import TrainingConfig


class Common(Section):
    """What runs of every kind have."""

    seed: int = Field(0, ge=0, lt=2**63)
    """Seeds the student, the order of samples, the augmentation and, unless data.seed is given,
    the trusted set and the noise."""

    device: str = Field("auto", pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$")
    """auto, cpu, cuda, cuda:1 or mps; auto takes the first GPU."""

    threads: int | None = Field(None, ge=1, le=1024)
    """CPU threads of torch (their number changes the last bits); unset: torch's choice."""

    deterministic: bool = False
    """Deterministic kernels only: the same bits again on the same device and thread count."""

    method: MethodConfig = DeepConfig()
    """Who weighs the samples; `name` chooses the method, the other keys are its own."""

    @model_validator(mode="before")
    @classmethod
    def _own_method_unless_named(cls, values: Any) -> Any:
        """`[method]` without a name means the default one, as leaving the table out does."""
        method = values.get("method") if isinstance(values, dict) else None
        if isinstance(method, dict) and "name" not in method:
            return {**values, "method": {"name": DeepConfig().name, **method}}
        return values


class RunConfig(Common):
    """The complete settings of one run that classifies."""

    task: Literal["classification"] = "classification"
    """The kind of work."""

    data: DataConfig = DataConfig()
    """What is learned from."""

    student: StudentConfig = StudentConfig()
    """The model that learns."""

    training: TrainingConfig = TrainingConfig()
    """How it is optimised."""
