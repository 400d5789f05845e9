"""The same numbers in one, two and four processes; every sum that is left out breaks a check here."""

from typing import Any

import pytest
import torch
from tests.distributed.checks import CHECKS, SAME
from tests.distributed.left_out import LEFT_OUT
from tests.distributed.processes import run_in_processes

Found = dict[int, list[dict[str, Any]]]
FOUR = ("meta-gradient, kept", "meta-gradient, SyncBN", "50 steps", "self-paced", "partly used")
CASES = {2: [*CHECKS, *LEFT_OUT], 4: [*FOUR, "volume", "plumbing"]}
LOOSE = {"finite differences": 1e-6, "meta-gradient, reversal": 1e-9}


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> Found:
    return {w: run_in_processes(w, CASES[w], tmp_path_factory.mktemp("w")) for w in CASES}


@pytest.fixture(scope="module")
def alone() -> dict[str, Any]:
    return {name: check() for name, check in SAME.items()}


@pytest.mark.parametrize(
    ("name", "world"), [(name, world) for world in CASES for name in CASES[world] if name in SAME]
)
def test_many_processes_give_what_one_gives(name: str, world: int, found: Found, alone):
    for rank, result in enumerate(found[world]):
        values = result.get(name, "did not end")
        assert not isinstance(values, str), f"process {rank}: {values}"
        for key, expected in alone[name].items():
            assert _off(values[key], expected) <= LOOSE.get(name, 1e-12), (key, rank)


BY_ITSELF = {
    "gradient of other loops": "the optimizer's gradient differs",
    "normaliser in dω": "weights of a recorded batch have changed",
}
"""What the reweigher notices without a test."""


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_sum_left_out_is_noticed(name: str, found: Found, alone):
    expected = alone[LEFT_OUT[name][2]]
    if name in BY_ITSELF:
        assert all(BY_ITSELF[name] in result[name] for result in found[2])
        return
    assert not any(isinstance(result[name], str) for result in found[2]), found[2][0][name]
    differs = [_off(r[name][key], expected[key]) > 1e-6 for r in found[2] for key in expected]
    assert any(differs)


def _off(values: Any, expected: Any) -> float:
    """The largest difference, relative to the largest value."""
    if not isinstance(expected, torch.Tensor):
        return float(values != expected)
    difference = (values.double() - expected.double()).abs().max()
    return float(difference / expected.double().abs().max().clamp_min(1e-30))


@pytest.mark.parametrize("world", [2, 4])
def test_an_update_adds_little_to_the_messages(world: int, found: Found):
    for result in found[world]:
        assert 22 <= result["volume"]["gradients"] < 26  # 20 + trusted + HVP; the net is tiny


@pytest.mark.parametrize("world", [2, 4])
def test_small_parts(world: int, found: Found):
    for result in found[world]:
        parts = result["plumbing"]
        assert parts["gathered"].tolist() == list(range(7))
        assert parts["any"] is True
        assert parts["none"] is False
        assert parts["said"] == "rank 0, fails alike"
        assert parts["alone"] == 1


def test_the_checks_can_tell(alone):
    """Values that differ are found to differ."""
    other = {k: v * (1 + 1e-11) for k, v in alone["50 steps"].items()}
    assert all(_off(other[k], v) > 1e-12 for k, v in alone["50 steps"].items() if v.abs().max() > 0)
