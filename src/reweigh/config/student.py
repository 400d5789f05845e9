"""The model that learns from the weighted samples."""

from pydantic import Field

from reweigh.config.section import Section


class StudentConfig(Section):
    """The student network, by name or by an importable factory."""

    model: str = Field(default="auto", min_length=1)
    """resnet8 … resnet110, wrn-28-10, cnn, mlp, or `module:factory` (runs that code); auto fits."""

    options: dict[str, bool | int | float | str | list[int]] = Field(default_factory=dict)
    """Keyword arguments of the model, such as `hidden = [128, 128]`."""
