import json
import os
import signal
import sys
from importlib import import_module
from pathlib import Path

import pytest
from tests.audit.made_up import finished_run
from typer.testing import CliRunner

from reweigh.audit import look
from reweigh.cli.app import app
from reweigh.cli.audit_parts import sentences
from reweigh.errors import InterruptedRun


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
    assert ", 50 test samples." in " ".join(out.split())
    assert "AUROC" in out


@pytest.mark.parametrize("verb", ["audit", "report"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_pass_over_the_samples_and_nothing_is_written(
    run: Path, tmp_path: Path, monkeypatch, verb: str, number: signal.Signals
) -> None:
    before = signal.getsignal(number)
    logits, passes = look._logits, []

    def asked(*arguments):
        seen = logits(*arguments)
        passes.append(os.kill(os.getpid(), number))
        return seen

    monkeypatch.setattr(look, "_logits", asked)
    monkeypatch.setattr(look, "CHUNK", 10)
    out = tmp_path / ("labels.csv" if verb == "audit" else "page")
    result = CliRunner().invoke(app, [verb, str(run), "--out", str(out)])
    assert isinstance(result.exception, InterruptedRun)
    assert result.exception.exit_code == 75
    assert len(passes) == 1  # ten there would have been
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(number) is before


@pytest.mark.parametrize(
    ("verb", "module"), [("audit", "reweigh.audit.run"), ("report", "reweigh.report.write")]
)
def test_a_signal_during_imports_has_the_same_exit_code(
    run: Path, tmp_path: Path, monkeypatch, verb: str, module: str
) -> None:
    """Importing torch and its kin takes seconds, in which people press Ctrl-C as well."""
    package, _, name = module.rpartition(".")
    monkeypatch.setattr(import_module(package), name, import_module(module))  # put back afterwards
    monkeypatch.delitem(sys.modules, module)

    class Asked:
        def find_spec(self, wanted: str, *_: object) -> None:
            if wanted == module:
                os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(sys, "meta_path", [Asked(), *sys.meta_path])
    result = CliRunner().invoke(app, [verb, str(run), "--out", str(tmp_path / "out.csv")])
    assert isinstance(result.exception, InterruptedRun)
    assert result.exception.exit_code == 75
    assert list(tmp_path.iterdir()) == []


def test_one_group_is_not_several_and_its_table_is_named() -> None:
    summary = {
        "samples": 2, "estimated_wrong": 1, "not_judged": {"test": 5}, "cautions": [], "checked": None,
        "conflicting_copies": [["a", "b"]], "detection": None, "table": "x/audit.csv",
    }  # fmt: skip
    told = "1 group, the first a, b (all in x/audit.csv, column copy_group)."
    assert f"Equal inputs with different labels: {told}" in sentences(summary)
