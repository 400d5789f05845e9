import json
from pathlib import Path

import pytest
from tests.audit.made_up import finished_run
from typer.testing import CliRunner

from reweigh.cli.app import app


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    return finished_run(tmp_path_factory.mktemp("runs") / "deep")


def test_the_summary_is_one_json_object_and_the_table_lies_in_the_run(run: Path) -> None:
    result = CliRunner().invoke(app, ["audit", str(run), "--json"], catch_exceptions=False)
    summary = json.loads(result.stdout)
    assert summary["samples"] == 96
    assert len(summary["classes"]) == len(summary["noise_matrix"]) == 10
    assert len((run / "audit.csv").read_text().splitlines()) == 97


def test_too_many_issues_are_exit_code_6_and_exactly_as_many_are_not(run: Path) -> None:
    issues = json.loads(CliRunner().invoke(app, ["audit", str(run), "--json"]).stdout)["issues"]
    assert issues > 0
    limits = {str(issues - 1): 6, str(issues): 0}
    for limit, code in limits.items():
        assert CliRunner().invoke(app, ["audit", str(run), "--fail-above", limit]).exit_code == code


def test_people_read_classes_and_the_score_against_the_truth(run: Path) -> None:
    out = CliRunner().invoke(app, ["audit", str(run)], catch_exceptions=False).stdout
    assert "label issues among 96 samples" in out
    assert "AUROC" in out
