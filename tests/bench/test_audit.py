import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from tests.training.small import TINY
from typer.testing import CliRunner

from reweigh.bench.audit import WAYS, Cell, cells, measure, out_of_sample
from reweigh.bench.audit_table import markdown, read_cells, tables
from reweigh.cli.app import app
from reweigh.errors import DataError, UsageError

needs_cleanlab = pytest.mark.skipif(
    find_spec("cleanlab") is None, reason="cleanlab comes with reweigh[bench]"
)


def tiny(noise: str = "flip:0.4", *assignments: str) -> Cell:
    own = [text for text in TINY if not text.startswith(("data.name", "data.noise", "threads"))]
    (cell,) = cells(["digits"], [noise], 1, [*own, *assignments])
    return cell


@needs_cleanlab
def test_every_way_is_scored_once_and_kept(tmp_path: Path) -> None:
    cell, out, work = tiny(), tmp_path / "out", tmp_path / "work"
    found = measure(cell, list(WAYS), out, work)
    assert set(found["ways"]) == set(WAYS)
    for scores in found["ways"].values():
        assert 0 <= scores["auroc"] <= 1
        assert scores["seconds"] > 0
    file = out / "digits_flip-0.4_s0.json"
    kept = json.loads(file.read_text())
    kept["ways"]["cleanlab"]["auroc"] = 0.123
    file.write_text(json.dumps(kept))
    again = measure(cell, list(WAYS), out, work)
    assert again["ways"]["cleanlab"]["auroc"] == 0.123


def test_a_sample_is_judged_by_students_that_never_saw_it() -> None:
    """Of a student that learns by heart, only the probabilities of samples it saw fit them."""
    cell = tiny("uniform:1.0", "training.epochs=15", "student.options.hidden=[64]")
    p, seconds = out_of_sample(cell.config, cell.problem)
    labels = cell.problem.train.labels
    assert seconds > 0
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)
    assert (p.argmax(axis=1) == labels).mean() < 0.35


@pytest.mark.parametrize("noise", ["none", "flip:0.0"])
def test_noise_that_changes_nothing_cannot_be_detected(noise: str) -> None:
    """That is said before anything is trained."""
    with pytest.raises(UsageError, match="nothing to detect"):
        tiny(noise)


def test_what_was_found_under_other_settings_is_never_replaced(tmp_path: Path) -> None:
    cell, out = tiny(), tmp_path / "out"
    measure(cell, ["plain-loss"], out, tmp_path / "one")
    before = (out / f"{cell.name}.json").read_bytes()
    with pytest.raises(UsageError, match="other settings; choose another --out"):
        measure(tiny("flip:0.4", "training.lr=0.1"), ["plain-loss"], out, tmp_path / "two")
    assert (out / f"{cell.name}.json").read_bytes() == before


def test_a_cell_of_a_file_is_stored_under_its_name(tmp_path: Path) -> None:
    assert Cell(str(tmp_path / "rows.csv"), "flip:0.4", tiny().config).name == "rows_flip-0.4_s0"


def stored(folder: Path, data: str, seed: int, audit: float, cleanlab: float) -> None:
    ways = {
        "audit": {"auroc": audit, "average_precision": audit, "f1": audit, "seconds": 3.0},
        "plain-loss": {"auroc": 0.5, "average_precision": 0.5, "f1": 0.5, "seconds": 2.0},
        "cleanlab": {"auroc": cleanlab, "average_precision": 0.6, "f1": 0.6, "seconds": 8.0},
    }
    cell = {"data": data, "noise": "flip:0.2", "seed": seed, "ways": ways}
    (folder / f"{data}_{seed}.json").write_text(json.dumps(cell))


def test_the_page_says_where_we_lead_and_where_not(tmp_path: Path) -> None:
    stored(tmp_path, "a", 0, 0.9, 0.7)
    stored(tmp_path, "a", 1, 0.8, 0.7)
    stored(tmp_path, "b", 0, 0.6, 0.7)
    text = markdown(read_cells(tmp_path))
    assert "| a | flip:0.2 | **0.850 ± 0.071** | 0.500 ± 0.000 | 0.700 ± 0.000 |" in text
    assert "| b | flip:0.2 | 0.600 | 0.500 | **0.700** |" in text
    assert "ahead of cleanlab, which has none, in 1 of 2 settings, 1 seed or more each." in text
    assert "| b | flip:0.2 | 1.50 | 1.00 | 4.00 |" in text
    assert "costs less than half of cleanlab in 2 of 2 settings" in text
    assert [table.row_count for table in tables(read_cells(tmp_path))] == [2, 2, 2, 2]


def test_what_is_stored_is_shown_without_computing(tmp_path: Path) -> None:
    stored(tmp_path, "a", 0, 0.9, 0.7)
    arguments = ["bench", "audit", "--stored", "--out", str(tmp_path), "--json"]
    answer = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert len(json.loads(answer.stdout)["cells"]) == 1
    with pytest.raises(DataError, match="no result yet"):
        read_cells(tmp_path / "none")


def test_the_page_holds_the_tables_of_what_is_stored() -> None:
    """Made by `reweigh bench audit --stored --markdown`."""
    root = Path(__file__).parents[2]
    assert markdown(read_cells(root / "results/audit")) in (root / "docs/audit.md").read_text()
