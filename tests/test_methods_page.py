"""The page of methods has every row of a comparison, with the settings that make it."""

import re
from pathlib import Path

import pytest

from reweigh.config import read_config
from reweigh.config.lineup import LINEUP

PAGE = (Path(__file__).parents[1] / "docs/methods.md").read_text(encoding="utf-8")
ROWS = {
    name: line.split("|")[2]
    for line in PAGE.splitlines()
    if line.startswith("| `")
    for name in re.findall(r"`([\w.-]+)`", line.split("|")[1])
}


def test_every_row_is_there() -> None:
    assert set(ROWS) == set(LINEUP)


@pytest.mark.parametrize("name", LINEUP)
def test_the_settings_for_train_are_those_of_the_row(name: str) -> None:
    """Rows in one line differ by one value, which stands in brackets."""
    told = ROWS[name]
    assigned = {"method.name": (re.findall(r"--method ([\w-]+)", told) or ["?"])[0]}
    assigned |= dict(re.findall(r"--set (method\.\w+)=([\w.]+)", told))
    own = name.rpartition("-")[2]
    if own in re.findall(r"\(`(\w+)`\)", told):
        last = next(key for key in assigned if key in ("method.teacher", "method.kind"))
        assigned[last] = own
    if name.startswith("focal"):
        assigned["method.gamma"] = {"focal": "1", "focal-2": "2"}.get(name, "0.5")
    config = read_config(None, {}, [f"{key}={value}" for key, value in assigned.items()])
    assert config.method == LINEUP[name]
