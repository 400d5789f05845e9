import json

import pytest
from typer.testing import CliRunner

from reweigh.cli.app import app
from reweigh.config.lineup import LINEUP
from reweigh.errors import UsageError


def compare(*arguments: str) -> str:
    return CliRunner().invoke(app, ["compare", *arguments], catch_exceptions=False).stdout


def test_a_dry_run_lists_every_method_and_seed_once() -> None:
    runs = json.loads(compare("--seeds", "2", "--dry-run", "--json"))["runs"]
    assert [(r["method"], r["seed"]) for r in runs] == [(m, s) for m in LINEUP for s in (0, 1)]
    assert len({r["run_id"] for r in runs}) == len(runs)


def test_seeds_begin_at_the_configured_one() -> None:
    text = compare("--set", "seed=5", "--seeds", "2", "--methods", "uniform", "--dry-run")
    assert "seed 5" in text
    assert "seed 6" in text


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(UsageError, match="deep-linear"):
        compare("--methods", "deep-linar", "--dry-run")


def test_the_shared_settings_are_printed() -> None:
    assert 'noise = "flip:0.4"' in compare("--noise", "flip:0.4", "--print-config")
