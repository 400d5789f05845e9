"""The settings of a run of any kind: `task` says which."""

from typing import TypeAlias

from reweigh.config.run import RunConfig
from reweigh.config.translation import TranslationConfig

Settings: TypeAlias = RunConfig | TranslationConfig

TASKS: dict[str, type[RunConfig] | type[TranslationConfig]] = {
    "classification": RunConfig,
    "translation": TranslationConfig,
}
