import json

import torch
from typer.testing import CliRunner

from reweigh.cli import doctor, probes
from reweigh.cli.app import app


def test_one_json_object_tells_versions_devices_and_derivatives() -> None:
    found = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)
    assert found["environment"]["packages"]["torch"] == torch.__version__
    assert found["environment"]["threads"] == torch.get_num_threads()
    assert found["free_disk"] > 0
    works = found["derivatives"]["cpu"]
    assert works["forward mode, conv + BatchNorm"] is None
    assert works["double backward, conv + BatchNorm"] is None
    assert works["double backward, LSTM"] is None
    assert works["double backward, attention (MATH kernel)"] is None


def test_the_table_shows_what_works() -> None:
    shown = CliRunner().invoke(app, ["doctor"], env={"COLUMNS": "120"}).stdout
    assert torch.__version__ in shown
    assert "double backward, LSTM" in shown


def test_a_missing_derivative_is_a_reason_and_not_a_crash(monkeypatch) -> None:
    def fails(device: torch.device) -> None:
        raise NotImplementedError(f"no rule on {device}\nand a long trace")

    monkeypatch.setattr(probes, "PROBES", {"x": fails})
    assert probes.probe("cpu") == {"x": "no rule on cpu"}


def test_probes_leave_the_random_state_alone() -> None:
    before = torch.get_rng_state()
    probes.probe("cpu")
    assert torch.equal(before, torch.get_rng_state())


def test_a_missing_compiler_is_named(monkeypatch) -> None:
    monkeypatch.setattr(doctor.shutil, "which", lambda _: None)
    assert doctor.compile_obstacle() == "no C++ compiler was found"


def test_sizes_are_told_in_gigabytes() -> None:
    assert doctor._gigabytes(2**31) == "2.0 GB"
