"""Controls and ceilings: rows that say what a method is worth; they have hardly a setting."""

from typing import Literal

from reweigh.config.methods.one import OneMethod


class TrustedOnlyConfig(OneMethod):
    """Control: training on the trusted set alone."""

    on_trusted = True
    name: Literal["trusted-only"] = "trusted-only"
    """Control: the trusted set alone."""


class TrustedMixedConfig(OneMethod):
    """Control: the trusted samples mixed into the training set, repeated until they are 10 % of it."""

    on_trusted = True
    name: Literal["trusted-mixed"] = "trusted-mixed"
    """Control: the trusted set mixed into training, repeated until it is 10 % of the stream."""


class PerfectWeightsConfig(OneMethod):
    """Ceiling of any reweighting: 1 for a right label, 0 for a wrong one. Needs planted noise."""

    needs_truth = True
    name: Literal["perfect-weights"] = "perfect-weights"
    """Ceiling of any reweighting: 1 for a right label, 0 for a wrong one."""


class PerfectMixedConfig(OneMethod):
    """Ceiling of any reweighting with the trusted samples mixed in. Needs planted noise."""

    on_trusted = True
    needs_truth = True
    name: Literal["perfect-mixed"] = "perfect-mixed"
    """Ceiling of any reweighting that trains on the trusted samples, too: repeated until they are 10 %."""


class CleanLabelsConfig(OneMethod):
    """Ceiling of all: plain training on the true labels. Needs planted noise."""

    needs_truth = True
    name: Literal["clean-labels"] = "clean-labels"
    """Ceiling of all: plain training on the true labels."""
