"""The settings of every method: `method.name` chooses one, the other keys belong to it.

Defaults are those of the paper or of the baseline's published code, named under each field;
"our choice" marks what no source gives.
"""

from collections.abc import Mapping
from typing import Annotated, Any, get_args

from pydantic import Discriminator, Field, Tag

from reweigh.config.methods.baselines import (
    ClassBalancedConfig,
    FocalConfig,
    GoldLossCorrectionConfig,
    L2TDataConfig,
    L2TLossConfig,
    LearningToReweightConfig,
    MentorNetConfig,
    MetaWeightNetConfig,
    SelfPacedConfig,
    UniformConfig,
)
from reweigh.config.methods.controls import (
    CleanLabelsConfig,
    PerfectMixedConfig,
    PerfectWeightsConfig,
    TrustedMixedConfig,
    TrustedOnlyConfig,
)
from reweigh.config.methods.deep import DeepConfig
from reweigh.config.methods.one import OneMethod
from reweigh.config.methods.own import OwnConfig

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
