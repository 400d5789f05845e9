"""Methods and teachers of one's own: the examples of docs/methods.md, through every verb."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.training.interrupted import asked_after, assert_same, everything, run_until_asked
from tests.training.small import TINY, settings
from typer.testing import CliRunner

from reweigh.cli.app import app, main
from reweigh.cli.screen import screen
from reweigh.config import explain, read_config, run_id, to_toml
from reweigh.config.methods import OwnConfig, own_code, trains_on_trusted
from reweigh.config.section import meaning
from reweigh.config.writing import plain_values
from reweigh.errors import CheckpointError, UsageError
from reweigh.methods import method_for
from reweigh.own_code import forget_code, place_told
from reweigh.training.progress import SilentProgress
from reweigh.training.run import resume, train

PAGE = (Path(__file__).parents[1] / "docs/methods.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## A method or a teacher of your own")[2]
EXAMPLES = "\n".join(re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL))
STUMBLED = "Wrong.forward (spoiled.py, line 48) failed with KeyError: 'weights'"
SPOILED = """
from reweigh.methods import Method

number = 3

class Fails(Method):
    def __init__(self, config):
        raise RuntimeError("no\\nluck")

class NeedsOption(Method):
    def reweigher(self, setting):
        return setting.reweigher(None, every=self.config.options["every"])

class Gives(Method):
    def reweigher(self, setting):
        return 3

class Forgets(Method):
    def __init__(self, config):
        pass

    def reweigher(self, setting):
        return setting.reweigher(None)

class Mixes(Method):
    def problem(self, problem):
        return problem.with_trusted(1)

    def reweigher(self, setting):
        from mine import Ceiling
        return setting.reweigher(Ceiling(2.0))

class Alone(Mixes):
    def problem(self, problem):
        return problem.trusted_alone()

class Half(Mixes):
    def problem(self, problem):
        from dataclasses import replace
        kept = slice(None, None, 2)
        return replace(problem, train=problem.train.take(kept), true_labels=problem.true_labels[kept])

class Stumbles(Mixes):
    def reweigher(self, setting):
        from mine import Ceiling
        class Wrong(Ceiling):
            def forward(self, seen):
                return {}["weights"]
        return setting.reweigher(Wrong(2.0))

class Plain:
    def __init__(self, config):
        pass

def nothing(setting):
    pass

def fails(setting):
    return setting.absent
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The examples as mine.py in the current folder, which Python does not search by itself."""
    (tmp_path / "mine.py").write_text(EXAMPLES, encoding="utf-8")
    (tmp_path / "spoiled.py").write_text(SPOILED, encoding="utf-8")
    (tmp_path / "broken.py").write_text("1 / 0", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p not in ("", str(tmp_path))])
    for name in ("mine", "spoiled", "broken"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def reweigh(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def tiny(*more: str) -> list[str]:
    return [part for text in (*TINY, *more) for part in ("--set", text)]


def gone(here: Path) -> None:
    """The code is no longer there."""
    for name in ("mine", "spoiled"):
        (here / f"{name}.py").unlink()
        sys.modules.pop(name, None)


def test_the_method_of_the_page_through_every_verb(here: Path) -> None:
    out = ["--out", "run", "--json", "-q"]
    own = ["--method", "mine:Mine", *tiny("method.options.most=2.5")]
    result = json.loads(reweigh("train", *own, *out))
    assert result["method"] == "mine:Mine"
    assert 'name = "mine:Mine"' in (here / "run/config.toml").read_text()
    weights = np.load(here / "run/weights/epoch_00000.npy")
    assert (weights == 0).any()
    assert (weights > 0).any()
    gone(here)
    assert json.loads(reweigh("resume", "run", "--json", "-q")) == result
    assert json.loads(reweigh("audit", "run", "--json", "-q"))["samples"] == 96
    reweigh("report", "run", "--out", "page", "-q")
    assert "mine:Mine" in (here / "page/index.html").read_text(encoding="utf-8")
    np.savez(here / "new.npz", x=np.zeros((3, 8, 8), np.uint8))
    assert len(reweigh("predict", "run", "new.npz", "-q").splitlines()) == 4


def test_the_teacher_of_the_page_learns_inside_deep(here: Path) -> None:
    own = tiny("method.teacher=mine:Doubt", "method.every=2", "training.epochs=2")
    result = json.loads(reweigh("train", *own, "--out", "run", "--json", "-q"))
    assert result["method"] == "deep"
    assert result["noise_auroc"] is not None
    from safetensors.torch import load_file

    assert load_file(here / "run/teacher.safetensors")["map.weight"].abs().sum() > 0
    gone(here)
    assert json.loads(reweigh("audit", "run", "--json", "-q"))["samples"] == 96


def test_a_comparison_has_them_as_rows_of_valid_folders(here: Path) -> None:
    (here / "rows.toml").write_text('[rows.doubt]\nlike = "deep"\nteacher = "mine:Doubt"\n')
    table = ["compare", "rows.toml", "--methods", "uniform,mine:Mine,doubt", "--seeds", "1"]
    rows = json.loads(reweigh(*table, *tiny(), "--out", "table", "--json", "-q"))["rows"]
    assert [row["method"] for row in rows] == ["uniform", "mine:Mine", "doubt"]
    folders = sorted(f.name.rpartition("_s")[0] for f in (here / "table").iterdir() if f.is_dir())
    assert folders == ["doubt", "mine-Mine", "uniform"]
    gone(here)
    assert "| mine:Mine | 1 |" in reweigh("table", "table", "--markdown")


def test_a_run_of_ones_own_method_goes_on_to_the_same_bits(here: Path, monkeypatch) -> None:
    config = settings("method.teacher=mine:Doubt", "method.every=4", "training.epochs=2")
    train(config, here / "whole", SilentProgress())
    with monkeypatch.context() as patched:
        asked_after(patched, 17)
        run_until_asked(config, here / "parts")
    resume(here / "parts", SilentProgress())
    assert_same(everything(here / "whole"), everything(here / "parts"))


def test_the_seed_decides_how_a_teacher_of_ones_own_begins(here: Path) -> None:
    (here / "mine.py").write_text(EXAMPLES.replace("torch.nn.init.zeros_(self.map.weight)", "pass"))
    one = [shop_of(f"seed={seed}") for seed in (0, 0, 1)]
    assert torch.equal(one[0], one[1])
    assert not torch.equal(one[0], one[2])


def shop_of(*more: str) -> torch.Tensor:
    from reweigh.training.tasks import prepared
    from reweigh.training.workshop import Workshop

    config = settings("method.teacher=mine:Doubt", *more)
    torch.rand(1)  # whatever was drawn before
    shop = Workshop(config, prepared(config), method_for(config.method))
    return shop.reweigher.teacher.map.weight.detach()


@pytest.mark.parametrize(
    ("key", "name", "message"),
    [
        (
            "name",
            "absent:Mine",
            "module of the method 'absent:Mine' cannot be imported, Module.*PYTH",
        ),
        ("name", "broken:Mine", "cannot be imported, ZeroDivisionError"),
        ("name", "mine:Absent", "the module 'mine' has no class 'Absent'"),
        ("name", "spoiled:number", "has no class 'number'"),
        (
            "name",
            "spoiled:Plain",
            r"no class that is a reweigh\.methods\.Method: write it as class",
        ),
        ("name", "spoiled:nothing", r"no class that is a reweigh\.methods\.Method"),
        (
            "name",
            "spoiled:Fails",
            r"'spoiled:Fails' failed with RuntimeError: no luck; it was called",
        ),
        ("name", "spoiled:NeedsOption", r"failed with KeyError: 'every'; it was .* reweigher\(set"),
        (
            "name",
            "spoiled:Gives",
            r"returned int, expected what setting\.reweigher\(teacher\) gives",
        ),
        ("teacher", "absent:f", "module of the teacher 'absent:f' cannot be imported"),
        ("teacher", "mine:absent", "the module 'mine' has no factory 'absent'"),
        ("teacher", "spoiled:nothing", r"returned NoneType, expected a reweigh\.Teacher"),
        ("teacher", "spoiled:fails", "failed with AttributeError.*called as factory"),
    ],
)
def test_what_is_wrong_is_told_in_one_sentence(here: Path, key, name, message) -> None:
    with pytest.raises(UsageError, match=message) as error:
        train(settings(f"method.{key}={name}"), here / "run", SilentProgress())
    assert "\n" not in str(error.value)
    assert not (here / "run").exists()


@pytest.mark.parametrize("name", ["absent:Mine", "spoiled:Plain", "mine:"])
def test_a_comparison_tells_before_anything_is_trained(here: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"cannot be imported|no class that is|is not one of"):
        reweigh("compare", "--methods", f"uniform,{name}", *tiny(), "--out", "table")
    assert not (here / "table").exists()


def test_a_constructor_may_forget_its_settings(here: Path) -> None:
    result = train(settings("method.name=spoiled:Forgets"), here / "run", SilentProgress())
    assert result.method == "spoiled:Forgets"


def test_an_audit_without_the_code_knows_which_weights_are_whose(here: Path) -> None:
    from reweigh.audit.run import audit_run

    for name in ("Mixes", "Alone", "Half"):
        train(settings(f"method.name=spoiled:{name}"), here / name, SilentProgress())
    gone(here)
    weights = np.load(here / "Mixes/weights/epoch_00000.npy")
    mixed = audit_run(here / "Mixes")
    assert len(weights) > len(mixed.weight) == 96
    np.testing.assert_allclose(mixed.weight, weights[:96], rtol=1e-6)
    assert np.isnan(audit_run(here / "Alone").weight).all()
    half = audit_run(here / "Half").weight
    assert np.isnan(half[1::2]).all()
    weights = np.load(here / "Half/weights/epoch_00000.npy")
    np.testing.assert_allclose(half[::2], weights, rtol=1e-6)


@pytest.mark.parametrize("more", [("--out", "run"), ("--dry-run",)])
def test_what_fails_in_use_is_told_with_its_class_and_line(
    here: Path, capsys, monkeypatch, more: tuple[str, ...]
) -> None:
    command = ["train", "--method", "spoiled:Stumbles", *tiny(), "-q", *more]
    monkeypatch.setattr(screen, "debug", False)
    with pytest.raises(SystemExit) as left:
        main(command)
    assert left.value.code == 1
    assert capsys.readouterr().err == f"reweigh: {STUMBLED}; --debug shows the traceback\n"
    assert not (here / "error.log").exists()
    if "--out" in more:
        assert "KeyError: 'weights'\n" in (here / "run/log.txt").read_text()
        command[-1] = "again"
    with pytest.raises(SystemExit):
        main([*command, "--debug"])
    told = capsys.readouterr().err
    assert "Traceback" in told
    assert told.endswith(f"reweigh: {STUMBLED}\n")


def test_other_errors_of_such_a_run_are_not_blamed_on_it() -> None:
    config = read_config(None, {}, ["method.name=spoiled:Stumbles"])
    with pytest.raises(ZeroDivisionError), place_told(config):
        _ = 1 / 0


def test_a_row_that_stumbles_stops_no_other(here: Path) -> None:
    rows = ["compare", "--methods", "spoiled:Stumbles,uniform", "--seeds", "1", *tiny()]
    done = CliRunner().invoke(app, [*rows, "--out", "table", "--json", "-q"])
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert [row["method"] for row in found["rows"]] == ["uniform"]
    assert found["failures"] == {"spoiled:Stumbles, seed 0": STUMBLED}
    (home,) = Path("table").glob("spoiled-Stumbles_*")
    assert STUMBLED in (home / "status.json").read_text()  # and so in every later table
    dry = CliRunner().invoke(app, [*rows, "--dry-run", "--json"])
    assert [row["why"] for row in json.loads(dry.stdout)["rows"]] == [STUMBLED, ""]


def test_finished_runs_of_code_that_changed_are_not_taken(here: Path) -> None:
    rows = ["compare", "--methods", "mine:Mine", "--seeds", "1", *tiny(), "--out", "table", "-q"]
    reweigh(*rows)
    reweigh(*rows)
    (here / "mine.py").write_text(EXAMPLES + "\n# another version\n", encoding="utf-8")
    reweigh(*rows)  # this process runs the code that it read
    forget_code(read_config(None, {}, ["method.name=mine:Mine"]))
    with pytest.raises(UsageError, match=r"made with another version of mine:Mine, so"):
        reweigh(*rows)


def test_a_run_does_not_go_on_under_other_code(here: Path) -> None:
    reweigh("train", "--method", "mine:Mine", *tiny(), "--out", "run", "-q")
    (here / "run" / "status.json").write_text('{"status": "interrupted"}', encoding="utf-8")
    (here / "mine.py").write_text(EXAMPLES + "\n# another version\n", encoding="utf-8")
    forget_code(read_config(None, {}, ["method.name=mine:Mine"]))
    with pytest.raises(CheckpointError, match=r"your own code was \w+, now"):
        resume(here / "run", SilentProgress())
    resume(here / "run", SilentProgress(), allow_drift=True)


def test_nothing_here_stands_in_for_an_installed_module(here: Path) -> None:
    (here / "numpy.py").write_text("1 / 0", encoding="utf-8")
    method_for(OwnConfig(name="mine:Mine"))
    assert sys.path[-1] == str(here)


def test_settings_of_ones_own_are_kept_checked_and_told() -> None:
    given = ["method.name=a.b:C", "method.options.x=[1, 2.5]", "method.options.y=true"]
    config = read_config(None, {}, given)
    assert config.method.options == {"x": [1, 2.5], "y": True}
    assert own_code(config.method) == "a.b:C"
    for write in (to_toml, explain):
        Path("settings.toml").write_text(write(config), encoding="utf-8")
        assert read_config(Path("settings.toml")) == config
    other = read_config(None, {}, [*given, "method.options.y=false"])
    assert run_id(config) != run_id(other)
    assert all(meaning(field) for field in OwnConfig.model_fields.values())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "method.options.x={a=1}",
            r"method\.options\.x = .* boolean, number, text or a list of such",
        ),
        ("method.most=1", r"unknown key method\.most; known are name, options"),
        ("method.options=1", r"should be a table, as in method\.options\.NAME"),
    ],
)
def test_wrong_settings_of_ones_own_are_told(given: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_config(None, {}, ["method.name=a:B", given])


def test_an_unknown_teacher_is_told_that_it_may_be_ones_own() -> None:
    with pytest.raises(UsageError, match="or 'margin', or your own as module:factory"):
        read_config(None, {}, ["method.teacher=lineer"])


def test_a_method_that_trains_on_trusted_samples_can_say_so() -> None:
    plain = OwnConfig(name="a:B")
    mixed = OwnConfig(name="a:B", options={"trusted_share": 0.1})
    assert not trains_on_trusted(plain_values(plain))
    assert trains_on_trusted(plain_values(mixed))
