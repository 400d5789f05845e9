"""Typed settings: sections, their reading from TOML, their writing, and a run's id."""

from reweigh.config.data import DataConfig
from reweigh.config.methods import MethodConfig
from reweigh.config.reading import read_config
from reweigh.config.run import RunConfig
from reweigh.config.settings import TASKS, Settings
from reweigh.config.student import StudentConfig
from reweigh.config.training import TrainingConfig
from reweigh.config.translation import TranslationConfig
from reweigh.config.writing import explain, run_id, to_toml

__all__ = [
    "TASKS",
    "DataConfig",
    "MethodConfig",
    "RunConfig",
    "Settings",
    "StudentConfig",
    "TrainingConfig",
    "TranslationConfig",
    "explain",
    "read_config",
    "run_id",
    "to_toml",
]
