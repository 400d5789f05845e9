"""A few cases of each fault in every test run; `make faults` tries all of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.faults.all_faults import FAULTS
from tests.faults.fault import Fault


def sample() -> list[Any]:
    return [
        pytest.param(fault, case, id=f"{fault.name}-{i}")
        for fault in FAULTS
        for i, case in enumerate(some(fault.cases))
        if len(fault.cases) > 1
    ]


def some(cases: Sequence[Any]) -> list[Any]:
    """Up to four, from the first to the last: kinds of cases stand behind each other."""
    last = len(cases) - 1
    return [cases[i] for i in sorted({0, last // 3, 2 * last // 3, last})]


@pytest.mark.parametrize(("fault", "case"), sample())
def test_a_case_is_survived(fault: Fault, case: Any, tmp_path: Path) -> None:
    fault.attempt(case, tmp_path)
