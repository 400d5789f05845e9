"""The table out of what is finished: means, the search, the cost, empty cells, one scale."""

import json
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from tests.made_up_result import put_result
from tests.training.small import settings

from reweigh.errors import UsageError
from reweigh.paper.cell import POSTER, Cell, Origin, Published, Recipe, Scale
from reweigh.paper.plan import Place, runs_of, waves
from reweigh.paper.result import Result, read_result
from reweigh.paper.run import chosen, claim

PLAIN = Cell(
    "Baseline",
    "A, 20%",
    (settings("method.name=uniform"),),
    Published(7.22),
    stands_for="Big A, 20%",
)
SEARCH = Cell(
    "Focal loss",
    "A, 20%",
    tuple(settings("method.name=focal", f"method.gamma={g}") for g in (0.5, 2.0)),
    Published(6.6, POSTER),
)
NONE = Cell("GLC", "A, 20%", (), Published(1.0), "not built")
CELLS = [PLAIN, SEARCH, NONE]
MIXED = Cell("mixed", "A, 20%", (settings("method.name=trusted-mixed"),), why="ours")
RECIPE = Recipe(
    "r", "A title", "Table 9", lambda scale: CELLS, dict.fromkeys(get_args(Scale), "One 100%.")
)


def finish(place: Place, cell: Cell, number: int, seed: int, last: float, trusted: float) -> None:
    home = place.home(*runs_of(cell, seed, place)[number])
    home.mkdir(parents=True)
    (home / "status.json").write_text('{"status": "done"}')
    errors = {"test_error_last": last, "test_error_best_by_trusted": last / 2}
    put_result(home, **errors, trusted_error_last=trusted)


@pytest.fixture
def result(tmp_path: Path) -> Result:
    place = Place(tmp_path)
    for seed, last in enumerate((0.1, 0.2)):
        finish(place, PLAIN, 0, seed, last, 0.5)
        finish(place, SEARCH, 0, seed, 0.3, trusted=0.2 + 0.2 * seed)
        finish(place, SEARCH, 1, seed, 0.4, trusted=0.3)
    return read_result(RECIPE, "tiny", CELLS, place, 2, {})


def test_lines_have_ours_beside_the_published(result: Result) -> None:
    plain, search, none = (line.shown() for line in result.lines)
    assert plain == (
        *("A, 20%", "Baseline", "7.22", "15.00 ± 7.07", "7.50 ± 3.54", "2", "1.00", ""),
    )
    # seed 0 takes the first, seed 1 the second, by the trusted set; the cost is that of both
    assert search[2:7] == ("6.60 *", "35.00 ± 7.07", "17.50 ± 3.54", "2", "2.00")
    assert none[2:] == ("1.00", "", "", "", "", "not built")


def test_forms(result: Result) -> None:
    assert "| A, 20% | Baseline | 7.22 | 15.00 ± 7.07 |" in result.markdown()
    assert r"A, 20\% & Baseline & 7.22 & 15.00 $\pm$ 7.07" in result.latex()
    assert result.table().row_count == 4  # one of them names the column
    lines = json.loads(json.dumps(result.outcome(), allow_nan=False))["lines"]
    assert lines[0]["last"] == pytest.approx([10, 20])
    terms = {"data": "digits", "student": "mlp", "epochs": 1, "scale": "tiny"}
    assert terms.items() <= lines[0].items()
    assert (lines[0]["column"], lines[0]["published_for"]) == ("A, 20%", "Big A, 20%")
    assert (lines[2]["data"], lines[2]["published"]) == (None, 1.0)


def test_every_form_has_the_caption_as_text(result: Result) -> None:
    caption = f"Test error in percent, scale tiny. One 100%. * {POSTER}."
    assert result.table().caption == caption
    assert result.markdown().endswith(caption)
    assert result.outcome()["caption"] == caption
    escaped = caption.replace("%", r"\%").replace("*", "$^*$")
    assert rf"\caption{{After Table 9 (A title). {escaped}}}" in result.latex()
    assert not any(line.startswith("%") for line in result.latex().splitlines())


def test_published_values_of_another_scale_are_told(result: Result) -> None:
    full = replace(result, scale="full")
    assert (result.title, full.title) == ("After Table 9 (A title)", "Table 9: A title")
    for form in (Result.markdown, Result.latex):
        assert "published, at full scale" in form(result)
        assert "full scale" not in form(full)
    assert result.table().columns[1].header == "published, at full scale"


def test_the_caption_names_rows_that_train_on_trusted_samples(tmp_path: Path) -> None:
    found = read_result(RECIPE, "tiny", [PLAIN, MIXED], Place(tmp_path), 1, {})
    assert found.caption.endswith(
        "on the trusted samples as well, and their best epoch chosen by them: mixed."
    )
    assert [line["trained_on_trusted"] for line in found.outcome()["lines"]] == [False, True]


def test_what_is_missing_says_why(tmp_path: Path) -> None:
    place = Place(tmp_path)
    ((name, _),) = runs_of(PLAIN, 0, place)
    found = read_result(RECIPE, "tiny", CELLS, place, 1, {f"{name}, seed 0": "it burst."})
    assert [line.why for line in found.lines] == ["it burst.", "not run", "not built"]


def test_scales_never_mix(tmp_path: Path) -> None:
    claim(tmp_path / "x", "cpu")
    claim(tmp_path / "x", "cpu")
    with pytest.raises(UsageError, match="runs at scale cpu, which never mix with full"):
        claim(tmp_path / "x", "full")


def test_rows_and_columns_can_be_chosen_and_plain_training_stays() -> None:
    assert chosen(CELLS, ["GLC"]) == [PLAIN, NONE]
    assert chosen(CELLS, ["A, 20%", "GLC"]) == [PLAIN, NONE]
    assert chosen(CELLS, ["Big A, 20%"]) == [PLAIN]  # the paper's name of a column
    said = "No row or column 'glc'; there are the rows Baseline; Focal loss; GLC and the columns A, 20%"
    with pytest.raises(UsageError, match=said):
        chosen(CELLS, ["glc"])


def test_runs_that_begin_from_another_come_after_it_and_know_its_folder(tmp_path: Path) -> None:
    place = Place(tmp_path)
    first = settings("method.name=deep")
    origin = Origin(first, "method", "teacher_from")
    moved = Cell("moved", "B", (settings("method.name=deep", "seed=7"),), why="-", origin=origin)
    ours = Cell("ours", "B", (first,), why="-")
    before, after = waves([moved, ours, PLAIN], 2, place)
    assert len(before) == 4  # the origin is a cell of its own, too, and is done once
    assert len(after) == 2
    for seed, (_, found) in enumerate(after):
        there = Path(found.method.teacher_from)
        assert there.name in {place.home(*run).name for run in before}
        assert f"_s{seed}_" in there.name
    elsewhere = waves([moved], 2, Place(tmp_path / "moved"))[1]
    assert [n for n, _ in elsewhere] == [n for n, _ in after]
    homes = [{place.home(*run).name for run in wave} for wave in (elsewhere, after)]
    assert homes[0] == homes[1]  # a table may be moved


def test_costs_of_fine_tuning_are_in_units_of_fine_tuning() -> None:
    origin = Origin(settings(), "student", "start")
    tuned = Cell("tuned", "A, 20%", (settings("method.name=uniform"),), origin=origin)
    taught = Cell("taught", "A, 20%", (settings("method.name=deep"),), origin=origin)
    moved = Cell("moved", "A, 20%", (settings(),), origin=Origin(settings(), "method", "start"))
    assert tuned.plain
    assert tuned.length == taught.length != PLAIN.length
    assert moved.length == PLAIN.length  # it trains from scratch, under a teacher from elsewhere
