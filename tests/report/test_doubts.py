from dataclasses import replace

import numpy as np
from tests.report.made_up import report, run

from reweigh.report.contents import Report
from reweigh.report.doubts import cautions
from reweigh.report.runs import Run
from reweigh.report.write import render


def trained(row: str, epochs: int, seed: int = 0, cautions: tuple[str, ...] = ()) -> Run:
    made = run(row, seed)
    settings = f'[training]\nepochs = {epochs}\n[student]\nmodel = "mlp"\n'
    return replace(made, settings=settings, result=made.result | {"cautions": list(cautions)})


def cautions_of(*runs: Run) -> tuple[str, ...]:
    return cautions(Report(list(runs), runs[0], None))


def test_rows_of_other_schedules_are_told_and_stand_on_the_page() -> None:
    deep, plain, focal = trained("deep", 30), trained("uniform", 5), trained("focal", 30)
    (told,) = cautions_of(deep, plain, focal)
    assert told == (
        "these rows were not trained alike and do not compare "
        "(deep, focal: epochs=30; uniform: epochs=5)"
    )
    full = report()
    page = render(replace(full, runs=[deep, plain], main=deep))
    assert "<strong>Caution:</strong> these rows were not trained alike" in page


def test_a_common_start_has_terms_of_its_own() -> None:
    assert cautions_of(trained("deep", 3), trained("uniform", 3), trained("pretrained", 30)) == ()


def test_what_all_runs_warn_of_is_told_once_and_else_with_their_names() -> None:
    runs = (
        trained("deep", 3, 0, ("nobody checked", "rare")),
        trained("deep", 3, 1, ("nobody checked",)),
        trained("uniform", 3, 0, ("nobody checked", "slow")),
        trained("uniform", 3, 1, ("nobody checked", "slow")),
    )
    assert cautions_of(*runs) == ("nobody checked", "deep, seed 0: rare", "uniform: slow")


def test_what_was_left_out_and_what_audits_doubt_is_told() -> None:
    full = report()
    assert full.audit is not None
    doubted = replace(full.audit, cautions=("a long tail",))
    other = replace(full.audit, cautions=("hardly learned", "a long tail"))
    made = replace(full, audit=doubted, beside=(full.runs[2], other), remarks=("x is missing",))
    assert cautions(made) == (
        "x is missing",
        "deep, seed 0; uniform: a long tail",
        "uniform: hardly learned",
    )


def test_an_audit_of_no_samples_is_still_one() -> None:
    full = report()
    assert full.audit is not None
    nothing = full.audit.samples.take(np.array([], int))
    made = replace(full, audit=replace(full.audit, samples=nothing, cautions=("nothing left",)))
    assert "deep, seed 0: nothing left" in cautions(made)
