"""Train good models on imperfect data.

A *teacher* looks at every training sample through the *student*, its answers or its internal states,
and gives it a weight; it learns by meta-gradients from a small *trusted* set, through the student's own
optimisation steps ("Learning to Reweight with Deep Interactions", AAAI 2021).

Public names load on first use, so that `import reweigh` does not wait for torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reweigh import distributed, errors
    from reweigh.reweigher import Reweigher
    from reweigh.stepping.freed_memory import keep_freed_memory
    from reweigh.stepping.outcome import Outcome
    from reweigh.student.seen import Seen, Tap
    from reweigh.teachers import (
        AgreementTeacher,
        Feature,
        InteractionTeacher,
        InternalState,
        LabelFeature,
        LinearTeacher,
        LossCurveTeacher,
        LossMarginTeacher,
        MarginTeacher,
        MLPTeacher,
        NoiseMatrix,
        PairTeacher,
        PosteriorTeacher,
        SurfaceFeatures,
        Teacher,
    )
    from reweigh.training.predictor import Predictor

__version__ = "0.1.0"

__all__ = [
    "AgreementTeacher",
    "Feature",
    "InteractionTeacher",
    "InternalState",
    "LabelFeature",
    "LinearTeacher",
    "LossCurveTeacher",
    "LossMarginTeacher",
    "MLPTeacher",
    "MarginTeacher",
    "NoiseMatrix",
    "Outcome",
    "PairTeacher",
    "PosteriorTeacher",
    "Predictor",
    "Reweigher",
    "Seen",
    "SurfaceFeatures",
    "Tap",
    "Teacher",
    "__version__",
    "distributed",
    "errors",
    "keep_freed_memory",
]

_HOMES = {
    "Outcome": "reweigh.stepping.outcome",
    "Predictor": "reweigh.training.predictor",
    "Reweigher": "reweigh.reweigher",
    "Seen": "reweigh.student.seen",
    "Tap": "reweigh.student.seen",
    "keep_freed_memory": "reweigh.stepping.freed_memory",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'reweigh' has no attribute {name!r}")
    if name in ("distributed", "errors"):
        return import_module(f"reweigh.{name}")
    return getattr(import_module(_HOMES.get(name, "reweigh.teachers")), name)


def __dir__() -> list[str]:
    return sorted(__all__)
