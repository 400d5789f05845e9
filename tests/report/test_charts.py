from dataclasses import replace

from tests.report.made_up import report, run

from reweigh.comparing.measures import MEASURES
from reweigh.report.charts import curve_charts, methods_chart


def test_whiskers_stand_where_several_seeds_do_and_the_caption_says_so() -> None:
    rows = report().rows
    chart = methods_chart(rows, MEASURES[0])
    assert [one is None for one in chart.data[0]["error_x"]["array"]] == [False, True, True]
    assert chart.caption.endswith("Whiskers: one standard deviation; one seed has none.")
    assert methods_chart(rows[:1], MEASURES[0]).caption.endswith("one standard deviation.")
    assert methods_chart(rows[1:], MEASURES[0]).caption.endswith("One seed shows no spread.")


def test_teacher_updates_are_drawn_of_runs_that_have_some() -> None:
    plain, taught = run("uniform"), run("deep")
    idle = [row | {"teacher_updates": 0} for row in plain.metrics]
    busy = [row | {"teacher_updates": 5 * (row["epoch"] + 1)} for row in taught.metrics]
    plain, taught = replace(plain, metrics=idle), replace(taught, metrics=busy)
    assert "teacher-updates" not in {chart.key for chart in curve_charts([plain])}
    charts = {chart.key: chart for chart in curve_charts([plain, taught])}
    (line,) = charts["teacher-updates"].data
    assert line["y"] == [5, 10, 15]
    of_error = next(line for line in charts["trusted-error"].data if line["name"] == "deep")
    assert line["line"] == of_error["line"]  # a method has one colour


def test_the_alternative_text_of_a_curve_has_its_ends() -> None:
    curves = {chart.key: chart for chart in curve_charts([run("deep")])}
    assert curves["trusted-error"].spoken == "First and last value of deep, seed 0: 0.5, 0.167."
    assert curves["effective-share"].spoken == ""  # nobody noted any
