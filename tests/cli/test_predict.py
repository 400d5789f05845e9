import csv
import io
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from reweigh.cli.app import app
from reweigh.errors import DataError, UsageError


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    place, rng = tmp_path_factory.mktemp("predict"), np.random.default_rng(0)
    rows = [f"{i},{rng.normal(i % 2):.3f},{'=yes' if i % 2 else 'no'}" for i in range(60)]
    (place / "t.csv").write_text("\n".join(["id,x,label", *rows]))
    told = ["train", "--data", str(place / "t.csv"), "--epochs", "1", "--threads", "1", "-q"]
    few = ["--set", "data.trusted_per_class=3", "--out", str(place / "run")]
    assert CliRunner().invoke(app, [*told, *few]).exit_code == 0
    return place / "run"


def said(run: Path, *options: str):
    return CliRunner().invoke(app, ["predict", str(run), str(run.parent / "t.csv"), *options])


def test_a_row_a_sample_on_stdout(run: Path) -> None:
    result = said(run, "--probabilities")
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["id"] for row in rows] == [str(i) for i in range(60)]
    assert list(rows[0]) == ["id", "predicted_label", "confidence", "p(=yes)", "p(no)"]
    for row in rows:
        best = max(float(row["p(=yes)"]), float(row["p(no)"]))
        assert float(row["confidence"]) == pytest.approx(best)
        assert row["predicted_label"] in ("'=yes", "no")  # no formula for a spreadsheet


def test_a_table_on_disk(run: Path, tmp_path: Path) -> None:
    result = said(run, "--out", str(tmp_path / "p.parquet"), "--last")
    assert (result.exit_code, result.stdout) == (0, "")
    assert pq.read_table(tmp_path / "p.parquet").column_names == [
        *("id", "predicted_label", "confidence"),
    ]
    assert f"60 predictions are in {tmp_path / 'p.parquet'}" in result.stderr


@pytest.mark.parametrize(
    ("out", "sentence"),
    [("p.xlsx", "ends in .csv or .parquet"), ("nowhere/p.csv", "there is no folder")],
)
def test_a_place_that_cannot_be_written_is_refused_first(
    out: str, sentence: str, tmp_path: Path
) -> None:
    refused = said(tmp_path / "no run", "--out", str(tmp_path / out))
    assert isinstance(refused.exception, UsageError)
    assert sentence in str(refused.exception)


@pytest.mark.parametrize("options", [(), ("--probabilities",)])
def test_a_table_that_stays_is_refused_before_anything_is_read(
    run: Path, options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = tmp_path / "ours.csv"
    assert said(run, *options, "--out", str(ours)).exit_code == 0
    assert said(run, *options, "--out", str(ours)).exit_code == 0  # renewed

    def read(*_: object) -> None:
        raise AssertionError("the samples were read already")

    monkeypatch.setattr("reweigh.training.predictor.Predictor.read", read)
    (tmp_path / "notes.csv").write_text("id,mine\n")
    refused = said(run, *options, "--out", str(tmp_path / "notes.csv"))
    assert "already exists with other columns (mine)" in str(refused.exception)


def test_unfit_images_are_named_and_the_others_answered(tmp_path: Path) -> None:
    Image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    for i in range(40):
        path = tmp_path / "photos" / "ab"[i % 2] / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 255, (6, 6, 3), dtype=np.uint8)).save(path)
    told = ["train", "--data", str(tmp_path / "photos"), "--epochs", "1", "--threads", "1", "-q"]
    few = ["--set", "data.trusted_per_class=3", "--set", "student.model=mlp"]
    ended = CliRunner().invoke(app, [*told, *few, "--out", str(tmp_path / "run")])
    assert ended.exit_code == 0, ended.output
    (tmp_path / "photos" / "a" / "0.png").write_bytes(b"no")
    Image.new("RGB", (7, 5)).save(tmp_path / "photos" / "a" / "2.png")
    for options in ([], ["--out", str(tmp_path / "p.csv"), "-q"]):
        found = CliRunner().invoke(
            app, ["predict", str(tmp_path / "run"), str(tmp_path / "photos"), *options]
        )
        text = found.stdout if not options else (tmp_path / "p.csv").read_text()
        assert len(list(csv.DictReader(io.StringIO(text)))) == 38
        assert "0.png cannot be read as an image" in found.stderr
        assert "2.png has size (5, 7) and the student takes (6, 6)" in found.stderr
        assert isinstance(found.exception, DataError)  # exit code 3
        assert str(found.exception).startswith("2 of 40 images have no prediction")
