from dataclasses import replace

from tests.report.made_up import report, run

from reweigh.report.contents import Report
from reweigh.report.headline import about, headline, to_compare
from reweigh.report.runs import Run
from reweigh.report.write import render

MAIN = """
[method]
name = "deep"
[data]
name = "digits"
noise = "flip:0.4"
[student]
model = "auto"
[training]
epochs = 30
"""


def trained(row: str, method: str, error: float, epochs: int = 30) -> Run:
    """A run with settings, whose row need not be called by its method."""
    made = run(method, error=error)
    settings = MAIN.replace('"deep"', f'"{method}"').replace("30", str(epochs))
    return replace(made, row=row, settings=settings, ended="2026-11-17T03:17:31+00:00")


def reported(*runs: Run) -> Report:
    return replace(report(), runs=list(runs), main=runs[0])


def test_the_answer_comes_first_and_beside_the_baselines() -> None:
    assert headline(report()).replace("\xa0", " ") == (
        "Trained with deep (reweighed, the default), the model gets 5.5 ± 0.7 % of the test samples wrong "
        "(± 1.3 by the size of the test set); plain training 25.0 %; the trusted samples alone 20.0 %."
    )


def test_a_run_with_another_teacher_is_not_called_the_default() -> None:
    other = replace(run("deep"), settings='[method]\nname = "deep"\nteacher = "mlp"\nevery = 20\n')
    assert "Trained with deep (teacher=mlp), the model" in headline(reported(other))


def test_no_line_begins_with_a_unit() -> None:
    assert "5.5\xa0±\xa00.7\xa0% of" in headline(report())


def test_a_baseline_is_found_by_its_method_and_only_where_it_was_trained_alike() -> None:
    main = trained("deep (r4)", "deep", 0.058)
    short, long = (
        trained("uniform (r2)", "uniform", 0.18, 5),
        trained("uniform (r6)", "uniform", 0.34),
    )
    assert "plain training 34.0\xa0%" in headline(reported(main, short, long))
    alone = headline(reported(main, short))
    assert "plain training" not in alone
    assert alone.endswith("by the size of the test set).")


def test_a_baseline_of_the_same_labels_comes_first() -> None:
    main = trained("deep", "deep", 0.1)
    dropped = trained("uniform (b)", "uniform", 0.2)
    dropped = replace(dropped, settings=dropped.settings.replace("[data]", '[data]\ndrop = "x"'))
    same = trained("uniform (a)", "uniform", 0.3)
    assert "plain training 30.0" in headline(reported(main, dropped, same))


def test_the_answer_has_the_error_that_the_test_set_implies() -> None:
    assert "wrong (±\xa01.7 by the size of the test set)." in headline(reported(run("deep")))
    assert "by the size" not in headline(reported(run("deep", error=0.0)))  # which is not certain
    seeds = [run("deep", seed, 0.1 + 0.01 * seed) for seed in (0, 1)]
    assert "10.5\xa0±\xa00.7\xa0% of the test samples wrong (±\xa01.8 by the size" in headline(
        reported(*seeds)
    )
    apart = [run("deep", seed, 0.1 + 0.2 * seed) for seed in (0, 1)]
    assert "by the size" not in headline(reported(*apart))  # small beside the spread


def test_the_page_says_what_the_answer_is_of() -> None:
    made = reported(trained("deep", "deep", 0.1))
    words = (
        "digits · noise flip:0.4 · 300 training, 300 trusted, 300 test samples · student cnn · "
        "30 epochs · 1 seed · 2026-11-17"
    )
    assert about(made) == words
    assert words in render(made)


def test_without_plain_training_the_page_says_how_to_come_by_it() -> None:
    main = trained("deep (r4)", "deep", 0.1)
    for others in ((), (trained("uniform (r2)", "uniform", 0.2, 5),)):
        made = reported(main, *others)
        assert (
            to_compare(made)
            == "reweigh compare runs/deep_s0/config.toml --methods uniform,trusted-only"
        )
        assert to_compare(made) in render(made)
    assert to_compare(reported(main, trained("uniform (r6)", "uniform", 0.2))) == ""
    assert to_compare(reported(trained("uniform", "uniform", 0.2))) == ""
    focal = 'name = "focal"\ngamma = 1.0\n'
    known = replace(run("focal"), settings=f"[method]\n{focal}")
    assert to_compare(reported(known)).endswith("--methods uniform,trusted-only,focal")
