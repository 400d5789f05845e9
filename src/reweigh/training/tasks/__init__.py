"""Kinds of work by name: `task = "classification"`; one per file, imported where it is wanted."""

from reweigh.config import RunConfig
from reweigh.methods import AnyProblem
from reweigh.training.tasks.base import Standing, Task


def kind_of(config: RunConfig) -> type[Task]:
    """The task that the settings name."""
    from reweigh.training.tasks.classification import Classification

    return Classification


def prepared(config: RunConfig) -> AnyProblem:
    """The problem of the settings; a comparison's runs of one seed share it."""
    return kind_of(config).prepare(config)


__all__ = ["Standing", "Task", "kind_of", "prepared"]
