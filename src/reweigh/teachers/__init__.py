"""Teachers: who gives the weights. One kind per file; a new one is a `Teacher` with a `forward`."""

from reweigh.teachers.agreement import AgreementTeacher
from reweigh.teachers.base import Teacher
from reweigh.teachers.features import (
    Feature,
    InternalState,
    LabelFeature,
    SurfaceFeatures,
)
from reweigh.teachers.interaction import InteractionTeacher
from reweigh.teachers.linear import LinearTeacher
from reweigh.teachers.loss_curve import LossCurveTeacher
from reweigh.teachers.loss_margin import LossMarginTeacher
from reweigh.teachers.margin import MarginTeacher
from reweigh.teachers.mlp import MLPTeacher
from reweigh.teachers.noise_matrix import NoiseMatrix
from reweigh.teachers.pair import PairTeacher
from reweigh.teachers.posterior import PosteriorTeacher

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
    "PairTeacher",
    "PosteriorTeacher",
    "SurfaceFeatures",
    "Teacher",
]
