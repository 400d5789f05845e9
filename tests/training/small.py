"""Runs that take a moment: few samples, a small student, one epoch."""

from reweigh.config import RunConfig, read_config
from reweigh.data.samples import Problem
from reweigh.methods import method_for
from reweigh.training.workshop import Workshop

TINY = (
    "data.name=digits",
    "data.noise=flip:0.4",
    "data.train_limit=96",
    "data.test_limit=50",
    "student.model=mlp",
    "student.options.hidden=[8]",
    "training.epochs=1",
    "training.batch_size=8",
    "threads=1",
)


def settings(*assignments: str) -> RunConfig:
    """The settings of a tiny run on digits, changed as told."""
    return read_config(None, {}, [*TINY, *assignments])


def shop(config: RunConfig, problem: Problem) -> Workshop:
    """What a run of this method builds, on this problem."""
    return Workshop(config, problem, method_for(config.method))
