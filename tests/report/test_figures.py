import itertools
import logging
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from tests.report.made_up import report
from tests.report.test_class_charts import with_classes

from reweigh.report.charts import Chart
from reweigh.report.class_charts import noise_chart, weights_by_class
from reweigh.report.contents import Report
from reweigh.report.figure_drawing import draw, size
from reweigh.report.figures import write_figures


def drawn(chart: Chart) -> Figure:
    figure = Figure(figsize=size(chart), layout="constrained")
    draw(figure.add_subplot(), chart)
    figure.draw_without_rendering()
    return figure


def chart(key: str, made: Report | None = None) -> Chart:
    return next(one for one in (made or report()).charts if one.key == key)


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


@pytest.mark.parametrize("key", ["trusted-error", "weights", "weight-loss", "states-class"])
def test_legends_stand_beside_the_data(key: str) -> None:
    figure = drawn(chart(key))
    (legend,) = figure.legends
    (axes,) = figure.axes
    assert not legend.get_window_extent().overlaps(axes.get_window_extent())


@pytest.mark.parametrize("key", ["trusted-error", "weight-loss"])
def test_axes_begin_at_zero_where_the_page_has_them_do_so(key: str) -> None:
    made = report()
    audit = replace(made.audit, weight=abs(made.audit.weight) + 1)
    assert drawn(chart(key, replace(made, audit=audit))).axes[0].get_ylim()[0] == 0


@pytest.mark.parametrize("K", [3, 12, 60])
def test_names_of_classes_do_not_overprint(K: int) -> None:
    audit = with_classes(K)
    for one in (noise_chart(audit), weights_by_class(audit)):
        axes = drawn(one).axes[0]
        names = axes.get_yticklabels()
        boxes = [name.get_window_extent() for name in names]
        assert len(boxes) == K
        assert not any(a.overlaps(b) for a, b in itertools.pairwise(boxes))
        assert "name" in names[-1].get_text()
        assert axes.get_ylabel() == "given label"


def test_a_small_matrix_has_its_numbers_in_it() -> None:
    matrix = drawn(noise_chart(with_classes(12))).axes[0]
    assert [text.get_text() for text in matrix.texts[:2]] == ["67%", "33%"]
    assert not drawn(noise_chart(with_classes(13))).axes[0].texts


@pytest.mark.parametrize(("kind", "told"), [("pdf", 1), ("svg", 0)])
def test_letters_that_no_font_has_are_told_once(kind: str, told: int, tmp_path, caplog) -> None:
    made = report()
    audit = replace(made.audit, class_names=("\U0001fae8", "\U00012000", "c"))
    with warnings.catch_warnings(), caplog.at_level(logging.WARNING, "reweigh"):
        warnings.simplefilter("error")
        write_figures(replace(made, audit=audit), tmp_path, kind)
    assert len(caplog.messages) == told
    assert all("\U00012000" in words and "font" in words for words in caplog.messages)
