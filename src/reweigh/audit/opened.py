"""A finished run opened for an audit: its settings and data as they were, and a task for its students."""

from pathlib import Path
from typing import TypeVar

from reweigh import signals
from reweigh.config import RunConfig, Settings, TranslationConfig
from reweigh.config.methods import UniformConfig
from reweigh.errors import UsageError
from reweigh.methods import AnyProblem, method_for
from reweigh.training.environment import device_after
from reweigh.training.run import refuse_unfinished, set_up_torch, settings_of
from reweigh.training.same_data import refuse_other
from reweigh.training.tasks import Task, kind_of, prepared
from reweigh.training.whereabouts import with_data_found

C = TypeVar("C", RunConfig, TranslationConfig)

_JUDGED = {"classification": "labels", "translation": "pairs"}


def opened(folder: Path, kind: type[C]) -> tuple[C, AnyProblem]:
    """The settings, with the data found, and the problem of the finished run in `folder`.

    A run of another kind is refused, and one whose data has changed since.
    """
    config = settings_of(folder)
    refuse_unfinished(folder)
    if not isinstance(config, kind):
        judged = _JUDGED[config.task]
        raise UsageError(f"{folder} is a run of {config.task}; its audit is of {judged}.")
    config = with_data_found(config, folder)
    set_up_torch(config)
    problem = prepared(config)
    signals.check()
    refuse_other(folder, config, problem)
    return config, problem


def judge_of(config: Settings, problem: AnyProblem) -> Task:
    """The task that a run's stored students are loaded into, on a device that is here.

    The samples are the problem's own, whoever weighed them: plain training's task holds them.
    """
    device = device_after(config.device)
    return kind_of(config)(config, problem, method_for(UniformConfig()), device)
