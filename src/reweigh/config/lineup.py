"""The rows of a comparison: methods by name, and the variants that tables show side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

from reweigh.config import methods
from reweigh.config.methods import MethodConfig
from reweigh.config.reading import check
from reweigh.config.settings import Settings
from reweigh.config.translation import OF_PAIRS, TranslationConfig
from reweigh.config.writing import run_id
from reweigh.errors import UsageError
from reweigh.nearest import nearest

PAPER: dict[str, Any] = {
    "every": 20, "through": 2, "trusted_share": 0, "teacher_lr": 0.01, "trusted_batch": 128,
}  # fmt: skip
"""What the paper says of its own method; the teacher's rate and the trusted batch are ours."""
OURS: dict[str, Any] = {"every": 5, "trusted_batch": 128}
"""Of our teachers that look at internal states."""

LINEUP: dict[str, MethodConfig] = {
    "uniform": methods.UniformConfig(),
    "focal-0.5": methods.FocalConfig(gamma=0.5),
    "focal": methods.FocalConfig(),
    "focal-2": methods.FocalConfig(gamma=2.0),
    "class-balanced": methods.ClassBalancedConfig(),
    "self-paced": methods.SelfPacedConfig(),
    "l2t-data": methods.L2TDataConfig(),
    "l2t-loss": methods.L2TLossConfig(),
    "mentornet-pd": methods.MentorNetConfig(kind="pd"),
    "mentornet-dd": methods.MentorNetConfig(kind="dd"),
    "meta-weight-net": methods.MetaWeightNetConfig(),
    "learning-to-reweight": methods.LearningToReweightConfig(),
    "gold-loss-correction": methods.GoldLossCorrectionConfig(),
    "deep-linear": methods.DeepConfig(teacher="linear", **PAPER),
    "deep-mlp": methods.DeepConfig(teacher="mlp", **PAPER),
    "deep-interaction": methods.DeepConfig(teacher="interaction", trusted_share=0, **OURS),
    "deep-agreement": methods.DeepConfig(teacher="agreement", teacher_lr=0.01, **OURS),
    "deep": methods.DeepConfig(),
    "trusted-only": methods.TrustedOnlyConfig(),
    "trusted-mixed": methods.TrustedMixedConfig(),
    "perfect-weights": methods.PerfectWeightsConfig(),
    "perfect-mixed": methods.PerfectMixedConfig(),
    "clean-labels": methods.CleanLabelsConfig(),
}

PRETRAINED = "pretrained"
"""The row of the student that all others begin from, where a comparison fine-tunes."""

TRANSLATION: dict[str, MethodConfig] = {
    **{name: LINEUP[name] for name in ("uniform", "trusted-only", "trusted-mixed", "l2t-data")},
    **{name: LINEUP[name] for name in ("meta-weight-net", "deep-linear")},
    "deep": methods.DeepConfig(**OF_PAIRS),
}
"""What `all` means for translation; every other row that makes sense of pairs can be named."""

OF_ALL_PAIRS = {"self-paced": methods.SelfPacedConfig(per_class=False)}
"""Rows that can be named there and mean something else than for classes."""


def lineup_of(task: str) -> dict[str, MethodConfig]:
    """All rows that can be named; for translation some mean something else."""
    return {**LINEUP, **OF_ALL_PAIRS, **TRANSLATION} if task == "translation" else LINEUP


def choose(
    text: str, task: str = "classification", own: Mapping[str, MethodConfig] | None = None
) -> dict[str, MethodConfig]:
    """The rows named by `all` or by a comma-separated list, in the order asked for.

    `own` rows are among `all` and can be named like others; `module:Class` is a row, too.
    """
    own = own or {}
    every = [*(TRANSLATION if task == "translation" else LINEUP), *own]
    names = every if is_all(text) else [n.strip() for n in text.split(",")]
    return {name: own.get(name) or _row(name, task, [*LINEUP, *own]) for name in names}


def is_all(text: str) -> bool:
    """Whether every row is asked for, and none by its name."""
    return text.strip() == "all"


def _row(name: str, task: str, known: Sequence[str]) -> MethodConfig:
    if ":" in name:
        return check({"task": task, "method": {"name": name}}, "--methods").method
    if name not in LINEUP:
        raise UsageError(f"No method {name!r} to compare{nearest(name, known)}")
    if task == "translation" and (why := LINEUP[name].not_for_pairs):
        raise UsageError(f"The method {name} cannot weigh sentence pairs: {why}.")
    return lineup_of(task)[name]


def tuned(runs: list[tuple[str, Settings]], pretraining: Settings) -> list[tuple[str, Settings]]:
    """The run of `pretraining`, then the given ones, each beginning from its student.

    Pre-training is by far the longest part and is done once; the seeds are those of the
    fine-tuning. All see the pairs, the trusted pairs and the noise that the student grew up with.
    """
    of_text = all(isinstance(c, TranslationConfig) for _, c in runs)
    if not (of_text and isinstance(pretraining, TranslationConfig)):
        raise UsageError("--pretrain is for task = 'translation', in both settings files.")
    start, drawn = folder_name(PRETRAINED, pretraining), pretraining.data.seed
    seed = pretraining.seed if drawn is None else drawn

    def begun(config: Settings) -> Settings:
        student = config.student.model_copy(update={"start": start})
        data = config.data.model_copy(update={"seed": seed})
        return config.model_copy(update={"student": student, "data": data})

    return [(PRETRAINED, pretraining)] + [(row, begun(c)) for row, c in runs]


def folder_name(row: str, config: Settings) -> str:
    """Where a comparison puts a run: the row's name, the seed, the beginning of the run's id."""
    return f"{row.replace(':', '-')}_s{config.seed}_{run_id(config)[:8]}"
