"""Methods: one paper (or control) per file. A method is a value of one argument, never a loop."""

from importlib import import_module

from reweigh.config.methods import MethodConfig, OwnConfig
from reweigh.methods.base import AnyProblem, Method, Setting, Trial
from reweigh.methods.own import own_method

_HOMES = {
    "uniform": "Uniform",
    "focal": "Focal",
    "class-balanced": "ClassBalanced",
    "self-paced": "SelfPaced",
    "l2t-data": "L2TData",
    "l2t-loss": "L2TLoss",
    "mentornet": "MentorNet",
    "meta-weight-net": "MetaWeightNet",
    "learning-to-reweight": "LearningToReweight",
    "gold-loss-correction": "GoldLossCorrection",
    "deep": "Deep",
    "trusted-only": "TrustedOnly",
    "trusted-mixed": "TrustedMixed",
    "perfect-weights": "PerfectWeights",
    "perfect-mixed": "PerfectMixed",
    "clean-labels": "CleanLabels",
}


def method_for(config: MethodConfig) -> Method:
    """The method that a configuration names; its file is named alike, unless it is the user's own."""
    if isinstance(config, OwnConfig):
        return own_method(config)
    module = import_module(f"reweigh.methods.{config.name.replace('-', '_')}")
    return getattr(module, _HOMES[config.name])(config)


__all__ = ["AnyProblem", "Method", "Setting", "Trial", "method_for"]
