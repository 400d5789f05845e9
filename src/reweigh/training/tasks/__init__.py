"""Kinds of work by name: `task = "classification"`; one per file, imported where it is wanted."""

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
    return kind_of(config).prepare(config)


__all__ = ["Standing", "Task", "kind_of", "prepared"]
