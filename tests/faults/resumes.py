"""Interruption by SIGTERM at chosen points, and one run that is interrupted twenty times."""

from itertools import product
from pathlib import Path
from random import Random

import pytest
from tests.faults.fault import Fault, in_child
from tests.faults.whole import assert_goes_on, go_on, whole
from tests.training.interrupted import asked_after, asked_in_evaluation, tiny

from reweigh.config import RunConfig, StudentConfig

SEED = 0
_METHODS = ("deep", "meta-weight-net", "mentornet", "l2t-data")
_POINTS = {"step 1": 1, "mid-epoch": 7, "teacher's update": 4, "epoch end": 12, "evaluation": 0}
_STUDENTS = ("mlp", "cnn")

Case = tuple[str, str, str]


def _config(method: str, student: str) -> RunConfig:
    config = tiny(method)
    if student == "mlp":
        return config
    cnn = StudentConfig(model="cnn", options={"width": 4})
    return config.model_copy(update={"student": cnn})


def _until_asked(config: RunConfig, folder: Path, step: int) -> int:
    def work() -> None:
        patch = pytest.MonkeyPatch()
        asked_after(patch, step) if step else asked_in_evaluation(patch, 1)
        go_on(config, folder)

    return in_child(work)


def _attempt(case: Case, folder: Path) -> None:
    method, point, student = case
    config = _config(method, student)
    whole(config)
    assert _until_asked(config, folder / "run", _POINTS[point]) == 75
    assert_goes_on(config, folder / "run")


def _chain(seed: int, folder: Path) -> None:
    random, config = Random(seed), tiny("deep", "training.epochs=5")
    whole(config)
    for _ in range(20):
        assert _until_asked(config, folder / "run", random.randint(1, 3)) == 75
    assert_goes_on(config, folder / "run")


RESUMES = Fault(
    "bitwise resume after SIGTERM", SEED, [*product(_METHODS, _POINTS, _STUDENTS)], _attempt
)
CHAIN = Fault("one run interrupted 20 times", SEED, [SEED], _chain)
