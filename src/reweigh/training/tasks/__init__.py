"""Kinds of work by name: `task = "classification"`; one per file, imported where it is wanted."""

from functools import lru_cache
from typing import Any

from reweigh.config import Settings
from reweigh.methods import AnyProblem
from reweigh.training.tasks.base import Standing, Task


def kind_of(config: Settings) -> type[Task]:
    """The task that the settings name."""
    if config.task == "translation":
        from reweigh.training.tasks.translation import Translation

        return Translation
    from reweigh.training.tasks.classification import Classification

    return Classification


def prepared(config: Settings) -> AnyProblem:
    """The problem of the settings; a comparison's runs of one seed share it."""
    kind = kind_of(config)
    return _prepared(kind, kind.spec(config))


@lru_cache(maxsize=4)
def _prepared(kind: type[Task], spec: Any) -> AnyProblem:
    return kind.prepare(spec)


def forget_problems() -> None:
    """Read files anew: they may have changed since they were read."""
    _prepared.cache_clear()


__all__ = ["Standing", "Task", "forget_problems", "kind_of", "prepared"]
