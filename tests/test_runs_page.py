"""What docs/runs.md promises of a run's folder."""

import json
import re
from pathlib import Path

import pytest
from tests.training.small import settings

from reweigh.training.progress import SilentProgress
from reweigh.training.run import train
from reweigh.training.run_records import read_metrics

PAGE = (Path(__file__).parents[1] / "docs/runs.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("runs") / "run"
    train(settings(), home, SilentProgress())
    return home


def test_the_recipes_run(folder: Path) -> None:
    weights, answers = (
        code.replace("runs/…", str(folder)).replace("epoch_00014", "epoch_00000")
        for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    )
    names: dict = {}
    exec(weights, names)
    assert names["doubtful"].sum() == 96 < len(names["weights"])
    exec(answers, names)
    result = json.loads((folder / "result.json").read_text())
    assert names["test_error"] == pytest.approx(result["test_error_best_by_trusted"])


def test_every_figure_of_an_epoch_is_explained(folder: Path) -> None:
    (row,) = [line for line in PAGE.splitlines() if line.startswith("| `metrics.jsonl`")]
    assert set(read_metrics(folder)[0]) <= set(re.findall(r"`(\w+)`", row))
