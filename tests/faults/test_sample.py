"""A few cases of each fault in every test run; `make faults` tries all of them."""

from pathlib import Path
from typing import Any

import pytest
from tests.faults.all_faults import FAULTS
from tests.faults.fault import Fault


def sample() -> list[Any]:
    return [
        pytest.param(fault, case, id=f"{fault.name}-{i}")
        for fault in FAULTS
        for i, case in enumerate(fault.cases[:: max(1, len(fault.cases) // 2)])
        if len(fault.cases) > 1
    ]


@pytest.mark.parametrize(("fault", "case"), sample())
def test_a_case_is_survived(fault: Fault, case: Any, tmp_path: Path) -> None:
    fault.attempt(case, tmp_path)
