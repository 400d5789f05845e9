"""Tables of the paper from beginning to end, at the smallest scale."""

import json
from pathlib import Path

import pytest

from reweigh.paper.catalogue import RECIPES, find
from reweigh.paper.plan import Place
from reweigh.paper.run import run
from reweigh.training.progress import SilentProgress


def check(name: str, folder: Path) -> None:
    found = run(find(name), "tiny", Place(folder, threads=1), SilentProgress(), seeds=1)
    assert found.failures == {}
    runnable = [c for c in find(name).cells("tiny") if c.settings]
    assert sum(bool(line.last) for line in found.lines) == len(runnable)
    json.dumps(found.outcome(), allow_nan=False)


def test_a_table(tmp_path: Path) -> None:
    check("deeper", tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", [n for n in RECIPES if n not in ("deeper", "bleu")])
def test_every_table(name: str, tmp_path: Path) -> None:
    check(name, tmp_path)
