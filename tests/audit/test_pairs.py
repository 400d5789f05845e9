import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.training.toy_text import toy, write_toy
from typer.testing import CliRunner

from reweigh.audit.pairs import PairAudit, audit_pairs
from reweigh.cli.app import app
from reweigh.config.writing import to_toml
from reweigh.errors import DataError
from reweigh.training.progress import SilentProgress
from reweigh.training.run import settings_of, train


@pytest.fixture(scope="module")
def audited(tmp_path_factory) -> tuple[Path, PairAudit]:
    torch.set_num_threads(1)
    place = tmp_path_factory.mktemp("pairs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place))
        config = toy(
            write_toy(place / "text"), "data.noise=mask:0.3:0.3", "training.epochs=6",
            "method.name=deep", "method.every=12",
        )  # fmt: skip
        train(config, place / "run", SilentProgress())
        return place / "run", audit_pairs(place / "run")


def test_masked_pairs_have_low_quality(audited) -> None:
    _, found = audited
    assert ((found.quality >= 0) & (found.quality <= 1)).all()
    summary = found.summary()
    assert summary["detection"]["auroc"] > 0.85
    assert summary["detection"]["wrong"] == found.changed.sum()
    worst = [row["source"] + row["target"] for row in summary["worst"]]
    assert sum("<MASK>" in text for text in worst) >= 8


def test_what_a_run_cautions_of_its_audit_says_too(audited) -> None:
    run, found = audited
    said = json.loads((run / "result.json").read_text())["cautions"]
    assert said
    assert set(said) <= set(found.summary()["cautions"])


def test_the_table_has_the_sentences(audited, monkeypatch) -> None:
    run, found = audited
    monkeypatch.setenv("XDG_CACHE_HOME", str(run.parent))
    shown = CliRunner().invoke(app, ["audit", str(run)])
    assert shown.exit_code == 0, shown.output
    assert "Against planted noise" in shown.stdout
    rows = list(csv.DictReader((run / "audit.csv").read_text().splitlines()))
    assert len(rows) == len(found)
    assert len(rows[0]["source"].split()) >= 4
    np.testing.assert_allclose(
        [float(row["label_quality"]) for row in rows], found.quality, rtol=1e-4
    )


def test_numbers_of_issues_are_refused(audited) -> None:
    run, _ = audited
    result = CliRunner().invoke(app, ["audit", str(run), "--fail-above", "3"])
    assert "how many sentence pairs are wrong is not estimated" in str(result.exception)


def test_sentences_are_those_of_the_same_lines(audited) -> None:
    _, found = audited
    form, text = found.codec.form, found.text
    for k in range(len(found)):
        words = form.source_words([text.source[k]]) + form.target_words([text.target[k]])
        read = [
            found.codec.decode_words(side[k].tolist())
            for side in (found.corpus.source, found.corpus.target)
        ]
        assert [len(side) for side in words] == [
            len(side) for side in read
        ]  # masks stand for words
        assert found.changed[k] == (words != read)


def test_a_table_that_stays_is_refused_before_the_pass(audited, tmp_path, monkeypatch) -> None:
    def audit_pairs(*_: object) -> None:
        raise AssertionError("the student was asked already")

    monkeypatch.setattr("reweigh.audit.pairs.audit_pairs", audit_pairs)
    (tmp_path / "notes.csv").write_text("id,mine\n")
    run, _ = audited
    result = CliRunner().invoke(app, ["audit", str(run), "--out", str(tmp_path / "notes.csv")])
    assert "already exists with other columns (mine)" in str(result.exception)


def test_text_that_changed_is_refused(audited, tmp_path, monkeypatch) -> None:
    run, _ = audited
    monkeypatch.setenv("XDG_CACHE_HOME", str(run.parent))
    copy = shutil.copytree(run, tmp_path / "copy")
    config = settings_of(copy)
    data = config.data.model_copy(update={"seed": 7})
    (copy / "config.toml").write_text(to_toml(config.model_copy(update={"data": data})))
    with pytest.raises(DataError, match="no longer gives the samples"):
        audit_pairs(copy)
