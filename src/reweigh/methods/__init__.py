"""Methods: one paper (or control) per file. A method is a value of one argument, never a loop."""

from importlib import import_module

from reweigh.config.methods import MethodConfig, OwnConfig
from reweigh.methods.base import AnyProblem, Method, Setting, Trial
from reweigh.methods.own import own_method


def method_for(config: MethodConfig) -> Method:
    """The method that a configuration names, unless it is the user's own.

    `FocalConfig`, of the name "focal", is the settings of `Focal` in `methods/focal.py`.
    """
    if isinstance(config, OwnConfig):
        return own_method(config)
    module = import_module(f"reweigh.methods.{config.name.replace('-', '_')}")
    return getattr(module, type(config).__name__.removesuffix("Config"))(config)


__all__ = ["AnyProblem", "Method", "Setting", "Trial", "method_for"]
