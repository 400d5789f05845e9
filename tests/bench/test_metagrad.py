import json

import pytest
import torch
from typer.testing import CliRunner

from reweigh.bench import metagrad
from reweigh.bench.clock import one_thread
from reweigh.bench.lineup import SYSTEMS
from reweigh.bench.peak import Cell, expected_bytes, graph_bytes, measure_cell
from reweigh.bench.subjects import Subject
from reweigh.cli.app import app
from reweigh.errors import UsageError


def _quiet(text: str) -> None:
    """Progress that nobody reads."""


def test_the_command_gives_rows_that_agree() -> None:
    arguments = "bench metagrad --models mlp --through 2 --systems reweigh-fast,unrolled --rounds 1"
    done = CliRunner().invoke(app, [*arguments.split(), "--json"], catch_exceptions=False)
    fast, unrolled = json.loads(done.stdout)["rows"]
    assert [fast["system"], unrolled["system"]] == ["reweigh-fast", "unrolled"]
    assert {"model", "through", "system", "extra_steps", "peak_mb"} <= fast.keys()
    assert fast["off"] < 1e-4
    assert fast["note"] == unrolled["note"] == ""
    assert fast["peak_mb"] > 0
    assert "round 1 of 1" in done.stderr


@pytest.mark.parametrize("system", ["reweigh-lean", "reweigh-reversal", "algorithm-1"])
def test_every_system_of_our_own_gives_the_unrolled_gradient(system: str) -> None:
    with one_thread():
        cells = {s: measure_cell("mlp", 3, s)["gradient"] for s in (system, "unrolled")}
    assert metagrad._disagreement(cells)[system] < 1e-4


@pytest.mark.parametrize("system", ["higher", "torchopt"])
def test_peers_give_the_unrolled_gradient(system: str) -> None:
    pytest.importorskip(system)
    with one_thread():
        cells = {s: measure_cell("mlp", 2, s)["gradient"] for s in (system, "unrolled")}
    assert metagrad._disagreement(cells)[system] < 1e-4


@pytest.mark.parametrize("system", ["reweigh-fast", "unrolled", "algorithm-1"])
def test_a_second_cycle_goes_on_where_the_first_ended(system: str) -> None:
    """Momentum and θ survive a cycle: two cycles are as far as the same steps in plain autograd."""
    subject = Subject("mlp")
    batches, trusted = [subject.batch(0), subject.batch(1)], subject.trusted()
    with one_thread():
        ends = []
        for name in (system, "reweigh-lean"):
            one = SYSTEMS[name](subject, 2)
            for _ in range(2):
                one.cycle(batches, trusted)
            ends.append(torch.cat([p.detach().flatten() for p in one.student.parameters()]))
    torch.testing.assert_close(ends[0], ends[1], rtol=0, atol=1e-5)


def test_a_gradient_that_differs_is_told() -> None:
    offs = metagrad._disagreement({"unrolled": [1.0, 0.0], "other": [1.0, 0.1]})
    assert offs["other"] == pytest.approx(0.1)
    assert metagrad._agreement(offs["other"], through=5) == "dω disagrees"
    assert metagrad._agreement(float("nan"), through=1) == "dω disagrees"
    assert metagrad._agreement(offs["unrolled"], through=5) == ""
    assert metagrad._agreement(offs["other"], through=20) == ""


def test_what_is_missing_or_too_large_is_told_in_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metagrad, "obstacle", lambda system: "not here")
    (row,) = metagrad.measure(["mlp"], [1], ["higher"], 1, _quiet)
    assert (row["note"], row["extra_steps"], row["peak_mb"]) == ("not here", None, None)
    monkeypatch.setattr(metagrad, "obstacle", lambda system: None)
    monkeypatch.setattr(metagrad, "free_bytes", lambda device: 1000)
    (row,) = metagrad.measure(["mlp"], [1], ["unrolled"], 1, _quiet)
    assert row["note"].startswith("skipped: needs about")
    assert metagrad.table([row]).row_count == 1


def test_a_process_that_fails_is_told_in_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = Cell(peak_mb=None, gradient=[], failure="failed: RuntimeError: broken")
    monkeypatch.setattr(metagrad, "in_fresh_process", lambda *_: failed)
    (row,) = metagrad.measure(["mlp"], [1], ["unrolled"], 1, _quiet)
    assert row["note"] == "failed: RuntimeError: broken"


def test_kept_graphs_are_expected_to_grow_with_b() -> None:
    one = graph_bytes("mlp")
    assert one > 128 * 3 * 32 * 32 * 4  # the images at least
    assert expected_bytes("mlp", 20, "unrolled") == 21 * one
    assert expected_bytes("mlp", 20, "reweigh-lean") == 2 * one


def test_long_cycles_are_repeated_less_often() -> None:
    assert [metagrad._rounds(5, through) for through in (1, 5, 20)] == [5, 5, 2]


def test_a_wrong_model_or_system_is_refused_at_once() -> None:
    def run(arguments: str) -> None:
        CliRunner().invoke(app, ["bench", "metagrad", *arguments.split()], catch_exceptions=False)

    with pytest.raises(UsageError, match="no model 'resnte8'"):
        run("--models resnte8")
    with pytest.raises(UsageError, match="'lower' is not one of reweigh-fast"):
        run("--systems lower")
    with pytest.raises(UsageError, match="should be whole numbers"):
        run("--through 1,two")
