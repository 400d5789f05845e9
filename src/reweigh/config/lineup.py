"""The rows of a comparison: methods by name, and the variants that tables show side by side."""

from difflib import get_close_matches
from typing import Any

from reweigh.config import methods
from reweigh.config.methods import MethodConfig
from reweigh.errors import UsageError

PAPER: dict[str, Any] = {"every": 20, "through": 2, "trusted_share": 0}
"""What the paper says of its own method; the teacher's rate is ours."""

LINEUP: dict[str, MethodConfig] = {
    "uniform": methods.UniformConfig(),
    "focal-0.5": methods.FocalConfig(gamma=0.5),
    "focal": methods.FocalConfig(),
    "focal-2": methods.FocalConfig(gamma=2.0),
    "self-paced": methods.SelfPacedConfig(),
    "l2t-data": methods.L2TDataConfig(),
    "l2t-loss": methods.L2TLossConfig(),
    "mentornet-pd": methods.MentorNetConfig(kind="pd"),
    "mentornet-dd": methods.MentorNetConfig(kind="dd"),
    "meta-weight-net": methods.MetaWeightNetConfig(),
    "learning-to-reweight": methods.LearningToReweightConfig(),
    "deep-linear": methods.DeepConfig(teacher="linear", **PAPER),
    "deep-mlp": methods.DeepConfig(teacher="mlp", **PAPER),
    "deep-interaction": methods.DeepConfig(teacher="interaction", teacher_lr=0.03, trusted_share=0),
    "deep": methods.DeepConfig(),
    "trusted-only": methods.TrustedOnlyConfig(),
    "trusted-mixed": methods.TrustedMixedConfig(),
    "perfect-weights": methods.PerfectWeightsConfig(),
    "clean-labels": methods.CleanLabelsConfig(),
}

BUDGETS = {
    "l2t-data": "learned from 10 trial trainings, its authors take up to 5000",
    "l2t-loss": "looks back through 5 steps, its authors through 200",
}
"""Rows whose method runs on less than its authors give it; a table says so under itself."""


def choose(text: str) -> dict[str, MethodConfig]:
    """The rows named by `all` or by a comma-separated list, in the order asked for."""
    names = list(LINEUP) if text.strip() == "all" else [n.strip() for n in text.split(",")]
    for name in names:
        if name not in LINEUP:
            near = get_close_matches(name, LINEUP, n=3, cutoff=0.4) or list(LINEUP)
            raise UsageError(f"No method {name!r} to compare; did you mean {' or '.join(near)}?")
    return {name: LINEUP[name] for name in names}
