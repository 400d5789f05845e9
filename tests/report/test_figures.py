from pathlib import Path

import pytest
from tests.report.made_up import report

from reweigh.report.figures import write_figures


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_every_chart_becomes_a_file_and_the_same_again(kind: str, tmp_path: Path) -> None:
    made = report()
    paths = write_figures(made, tmp_path, kind)
    assert [p.stem for p in paths] == [chart.key for chart in made.charts]
    first = {path: path.read_bytes() for path in paths}
    assert all(first.values())
    write_figures(made, tmp_path, kind)
    assert first == {path: path.read_bytes() for path in paths}


def test_hostile_names_are_drawn_as_text(tmp_path: Path) -> None:
    write_figures(report(hostile=True), tmp_path, "svg")
    heat = (tmp_path / "noise-matrix.svg").read_text()
    assert "<script>" not in heat
    assert "&lt;script&gt;" in heat
