import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from tests.audit.made_up import finished_run
from typer.testing import CliRunner

from reweigh.audit.run import audit_run
from reweigh.audit.second_pass import home_of, second_pass
from reweigh.cli.app import app
from reweigh.errors import InterruptedRun, UsageError
from reweigh.training.progress import SilentProgress
from reweigh.training.run import settings_of
from reweigh.training.run_records import read_status
from reweigh.training.tasks import prepared


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    return finished_run(tmp_path_factory.mktemp("runs") / "first", "training.epochs=4")


def again(run: Path, how: str) -> dict:
    arguments = ["audit", str(run), "--second-pass", how, "--json", "-q"]
    answer = CliRunner().invoke(app, arguments, catch_exceptions=False)
    return json.loads(answer.stdout)["second_pass"]


def test_dropping_trains_on_the_rest_under_the_same_noise(run: Path) -> None:
    first, outcome = audit_run(run), again(run, "drop")
    second = audit_run(home_of(run, "drop"))
    kept = ~first.is_issue
    np.testing.assert_array_equal(second.samples.ids, first.samples.ids[kept])
    np.testing.assert_array_equal(second.samples.labels, first.samples.labels[kept])
    assert outcome["changed"] == first.is_issue.sum() > 0
    result = json.loads((run / "result.json").read_text())
    assert outcome["before"]["test_error_last"] == result["test_error_last"]


def test_relabelling_changes_the_issues_alone_and_still_knows_the_truth(run: Path) -> None:
    first, _ = audit_run(run), again(run, "relabel")
    second = audit_run(home_of(run, "relabel"))
    np.testing.assert_array_equal(second.samples.ids, first.samples.ids)
    wanted = np.where(first.is_issue, first.predicted, first.samples.labels)
    np.testing.assert_array_equal(second.samples.labels, wanted)
    np.testing.assert_array_equal(second.true_labels, first.true_labels)


@pytest.mark.parametrize(
    ("column", "keys"),
    [("id", np.random.default_rng(1).permutation(120)), ("customer", np.arange(1, 121))],
    ids=["called by numbers of their own", "without names beside a column of numbers from 1"],
)
def test_the_rows_that_were_found_are_those_dropped(
    tmp_path: Path, column: str, keys: np.ndarray
) -> None:
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(120) < 0.3, 1 - np.arange(120) % 2, np.arange(120) % 2)
    rows = [f"{i},{rng.normal(3 * (k % 2)):.3f},{labels[k]}" for k, i in enumerate(keys)]
    (tmp_path / "t.csv").write_text("\n".join([f"{column},x,label", *rows]))
    data = (f"data.name={tmp_path / 't.csv'}", "data.noise=none", "data.trusted_per_class=5")
    run = finished_run(tmp_path / "run", *data, "training.epochs=6", "method.name=uniform")
    first = audit_run(run)
    assert 0 < first.is_issue.sum() < len(first.samples)
    second_pass(run, first, "drop", SilentProgress(), ["reweigh"])
    kept = audit_run(home_of(run, "drop")).samples.ids
    np.testing.assert_array_equal(kept, first.samples.ids[~first.is_issue])


def test_corrected_labels_of_test_samples_stay_corrected(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(120) < 0.3, 1 - np.arange(120) % 2, np.arange(120) % 2)
    rows = [f"r{k},{rng.normal(3 * (k % 2)):.3f},{labels[k]}" for k in range(120)]
    (tmp_path / "t.csv").write_text("\n".join(["id,x,label", *rows]))
    truth = [f"r{k},{k % 2}" for k in range(60, 120)]
    (tmp_path / "l.csv").write_text("\n".join(["id,label", *truth]))
    data = (f"data.name={tmp_path / 't.csv'}", "data.noise=none", "data.trusted_per_class=5")
    own = (*data, f"data.labels={tmp_path / 'l.csv'}", "method.name=uniform")
    run = finished_run(tmp_path / "run", *own, "training.epochs=6")
    second_pass(run, audit_run(run), "relabel", SilentProgress(), ["reweigh"])
    folders = (run, home_of(run, "relabel"))
    first, second = (prepared(settings_of(folder)).test for folder in folders)
    assert (first.labels != labels[first.ids]).any()
    np.testing.assert_array_equal(second.labels, first.labels)


def test_names_that_a_spreadsheet_would_run_are_written_harmless_and_read_as_they_were(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(120) < 0.3, 1 - np.arange(120) % 2, np.arange(120) % 2)
    names = ("=cmd|calc", "'=cmd|calc")
    rows = [f"@row{k},{rng.normal(3 * (k % 2)):.3f},{names[labels[k]]}" for k in range(120)]
    (tmp_path / "t.csv").write_text("\n".join(["id,x,label", *rows]))
    data = (f"data.name={tmp_path / 't.csv'}", "data.noise=none", "data.trusted_per_class=5")
    run = finished_run(tmp_path / "run", *data, "training.epochs=6", "method.name=uniform")
    first = audit_run(run)
    assert 0 < first.is_issue.sum() < len(first.samples)
    for how in ("drop", "relabel"):
        second_pass(run, first, how, SilentProgress(), ["reweigh"])
        with (run / f"second-pass-{how}.csv").open(newline="") as file:
            cells = [cell for row in list(csv.reader(file))[1:] for cell in row]
        assert all(cell.startswith("'") for cell in cells)
    dropped, relabelled = (audit_run(home_of(run, how)).samples for how in ("drop", "relabel"))
    np.testing.assert_array_equal(dropped.called(), first.samples.called()[~first.is_issue])
    wanted = np.where(first.is_issue, first.predicted, first.samples.labels)
    np.testing.assert_array_equal(relabelled.labels, wanted)


def test_a_pass_that_is_done_is_read_and_one_that_was_stopped_goes_on(tmp_path: Path) -> None:
    run = finished_run(tmp_path / "a first", "training.epochs=4")
    audit = audit_run(run)

    class Stopping(SilentProgress):
        def note(self, text: str) -> None:
            if "epoch 2" in text:
                raise InterruptedRun("asked to.")

    with pytest.raises(InterruptedRun, match=r"reweigh audit '.*a first' --second-pass drop$"):
        second_pass(run, audit, "drop", Stopping(), ["reweigh"])
    assert read_status(home_of(run, "drop")) == "interrupted"
    done = second_pass(run, audit, "drop", SilentProgress(), ["reweigh"])
    assert read_status(home_of(run, "drop")) == "done"
    assert second_pass(run, audit, "drop", SilentProgress(), ["reweigh"]) == done


def test_the_trusted_samples_decide_whether_it_helped(run: Path) -> None:
    done = second_pass(run, audit_run(run), "drop", SilentProgress(), ["reweigh"])
    for trusted, word in ((0.2, "helped"), (0.5, "made no difference"), (0.7, "did not help")):
        before = replace(done.before, trusted_error_last=0.5)
        after = replace(done.after, trusted_error_last=trusted, test_error_last=1 - trusted)
        told = replace(done, before=before, after=after, trained_on=False).verdict()
        assert f"it {word}:" in told
    assert done.trained_on
    assert "cannot tell whether a second pass helps" in done.verdict()


def test_that_there_will_be_no_verdict_is_said_before_training(run: Path) -> None:
    class Noting(SilentProgress):
        said: ClassVar[list[str]] = []

        def note(self, text: str) -> None:
            self.said.append(text)

    shutil.rmtree(home_of(run, "drop"), ignore_errors=True)
    second_pass(run, audit_run(run), "drop", Noting(), ["reweigh"])
    assert "cannot tell whether a second pass helps" in Noting.said[0]
    assert any("epoch 1/4" in text for text in Noting.said[1:])


def test_changed_answers_to_the_test_set_add_up_to_the_change_of_the_error(run: Path) -> None:
    done = second_pass(run, audit_run(run), "drop", SilentProgress(), ["reweigh"])
    n = done.test.samples
    changed = (done.test.newly_wrong - done.test.newly_right) / n
    assert done.after.test_error_last - done.before.test_error_last == pytest.approx(changed)
    assert done.test.newly_wrong + done.test.newly_right > 0
    assert done.outcome()["test_answers"]["samples"] == n


def test_nothing_to_change_and_a_second_drop_are_refused(run: Path) -> None:
    audit = audit_run(run)
    clean = replace(audit, is_issue=np.zeros_like(audit.is_issue))
    with pytest.raises(UsageError, match="No label"):
        second_pass(run, clean, "drop", SilentProgress(), ["reweigh"])
    again(run, "drop")
    dropped = home_of(run, "drop")
    third = audit_run(dropped)
    some = replace(third, is_issue=np.ones_like(third.is_issue))
    with pytest.raises(UsageError, match="leaves out the samples"):
        second_pass(dropped, some, "drop", SilentProgress(), ["reweigh"])


def test_people_see_both_runs_side_by_side(run: Path) -> None:
    arguments = ["audit", str(run), "--second-pass", "relabel", "-q"]
    out = CliRunner().invoke(app, arguments, catch_exceptions=False).stdout
    assert "samples relabelled" in out
    words = " ".join(out.split())
    assert "cannot tell whether a second pass helps: this method trains on them" in words
    assert "On the test set, which decides nothing," in words


def test_the_second_run_lies_beside_the_first(tmp_path: Path, monkeypatch) -> None:
    assert home_of(tmp_path / "a", "drop") == tmp_path / "a-drop"
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert home_of(Path(), "relabel") == (tmp_path / "here-relabel").resolve()
