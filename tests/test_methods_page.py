"""The page of methods has every row of a comparison, with the settings that make it."""

import re
from pathlib import Path

import pytest

from reweigh.config import read_config
from reweigh.config.lineup import LINEUP
from reweigh.config.methods import trains_on_trusted
from reweigh.config.methods.one import TRUSTED_SHARE
from reweigh.config.writing import plain_values

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


DIFFERS = PAGE.partition("## What differs from the publications")[2].partition("\n## ")[0]
POINTS = {
    name: text.replace("\n ", "")
    for names, text in re.findall(r"^- \*\*(.*?)\*\*(.*?)(?=^- |\Z)", DIFFERS, re.M | re.S)
    for name in names.split(", ")
}
CONTROLS = {"uniform", "trusted-only", "trusted-mixed"}
CEILINGS = {"perfect-weights", "perfect-mixed", "clean-labels"}


def test_every_published_row_says_what_differs() -> None:
    told = {"focal-0.5", "focal-2"} | POINTS.keys()  # one point for the three
    assert told == set(LINEUP) - CONTROLS - CEILINGS


def test_what_differs_is_what_is_set() -> None:
    l2t, loss, mentor = (LINEUP[row] for row in ("l2t-data", "l2t-loss", "mentornet-dd"))
    assert f"`full_at` = {LINEUP['self-paced'].full_at}" in POINTS["self-paced"]
    assert f"{l2t.episodes} trial trainings" in POINTS["l2t-data"]
    assert f"every {loss.every} steps through the last {loss.through} " in POINTS["l2t-loss"]
    assert (loss.pretrain, "a fifth of the run" in POINTS["l2t-loss"]) == (0.2, True)
    budget = f"{mentor.mentor_steps:,} steps with batches of {mentor.mentor_batch}"
    assert budget in POINTS["mentornet-pd"]
    assert f"the percentile is {mentor.loss_percentile} " in POINTS["mentornet-dd"]
    paper, ours = LINEUP["deep-linear"], LINEUP["deep"]
    assert f"K = {paper.every}, B = {paper.through}" in POINTS["deep-linear"]
    assert f"Adam at {paper.teacher_lr})" in POINTS["deep-linear"]
    assert f"K = {ours.every}, B = {ours.through}, Adam at {ours.teacher_lr} " in POINTS["deep"]


def test_the_rows_that_repeat_trusted_samples_are_named() -> None:
    mixed = {row for row, method in LINEUP.items() if trains_on_trusted(plain_values(method))}
    (named,) = re.findall(r"\*\*trains on trusted samples\*\* \((.*?)\)", DIFFERS)
    assert set(re.findall(r"`([\w-]+)`", named)) == mixed - {"trusted-only"}
    assert (TRUSTED_SHARE, "a tenth of it" in DIFFERS) == (0.1, True)
