import json
import signal
import tomllib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.training.small import TINY
from typer.testing import CliRunner

from reweigh.cli.app import app, main
from reweigh.errors import DataError, UsageError
from reweigh.training.loop import Loop


def train(*arguments: str) -> str:
    return CliRunner().invoke(app, ["train", *arguments], catch_exceptions=False).stdout


def tiny(*arguments: str) -> str:
    """A run of a moment on digits."""
    return train(*(part for text in TINY for part in ("--set", text)), *arguments)


def test_options_and_set_reach_the_settings() -> None:
    text = train(
        *("--data", "digits", "--data-dir", "d", "--noise", "flip:0.4", "--method", "focal"),
        *("--epochs", "2", "--seed", "7", "--device", "cpu", "--threads", "1"),
        *("--set", "method.gamma=2", "--set", "training.lr=0.5", "--print-config", "--json"),
    )
    settings = json.loads(text)
    assert settings["data"]["name"] == "digits"
    assert settings["data"]["dir"] == "d"
    assert settings["data"]["noise"] == "flip:0.4"
    assert settings["method"] == {"name": "focal", "gamma": 2.0}
    assert settings["training"]["epochs"] == 2
    assert settings["training"]["lr"] == 0.5
    assert (settings["seed"], settings["device"], settings["threads"]) == (7, "cpu", 1)


def test_a_printed_configuration_is_a_settings_file(tmp_path: Path) -> None:
    text = train("--noise", "flip:0.4", "--print-config")
    file = tmp_path / "mine.toml"
    file.write_text(text)
    assert tomllib.loads(train(str(file), "--print-config")) == tomllib.loads(text)
    assert "# B: student steps that the meta-gradient looks back through" in text


def test_another_method_replaces_the_file_s_whole_table(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[method]\nname = 'deep'\nevery = 5\n")
    text = train(str(file), "--method", "uniform", "--print-config", "--json")
    assert json.loads(text)["method"] == {"name": "uniform"}


def test_one_json_object_on_stdout_and_the_rest_on_stderr(tmp_path: Path) -> None:
    arguments = [part for text in TINY for part in ("--set", text)]
    out = ["--json", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(app, ["train", *arguments, *out], catch_exceptions=False)
    result = json.loads(done.stdout)
    assert result["folder"] == str(tmp_path / "run")
    assert 0 <= result["test_error_last"] <= 1
    assert 0 <= result["noise_auroc"] <= 1
    assert done.stdout.count("\n") == 1
    assert "epoch 1/1" in done.stderr
    stored = json.loads((tmp_path / "run" / "result.json").read_text())
    assert stored == {k: v for k, v in result.items() if k != "folder"}


def test_people_get_a_table_and_quiet_means_no_remarks(tmp_path: Path) -> None:
    arguments = [part for text in TINY for part in ("--set", text)]
    out = ["--quiet", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(app, ["train", *arguments, *out], catch_exceptions=False)
    assert "test error, last epoch" in done.stdout
    assert done.stderr == ""


def test_a_dry_run_builds_everything_and_writes_nothing(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = json.loads(tiny("--dry-run", "--json"))
    assert found["method"] == "deep"
    assert found["samples"]["test"] == 50
    assert found["parameters"] > 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (["--set", "student.model=resnet21"], "use 20 or 26"),
        (["--set", "student.options.hiden=[3]"], "no option 'hiden'; it takes hidden"),
        (["--method", "uniform", "--set", "method.teacher=linear"], r"unknown key method\.teacher"),
        (["--method", "depe"], "did you mean deep"),
        (["--set", 'method.features=["I3"]', "--set", "method.teacher=linear"], "it has I0 = fc"),
        (["--data", "digitz"], "did you mean digits"),
        (["--noise", "flip:nan"], "the rate 'nan' should be a number from 0 to 1"),
        (["--set", "training.lr=nan"], r"training\.lr = nan should be a finite number"),
        (["--device", "cuda:97"], "torch can use only"),
        (["--set", "method.features=I0"], r'should be a list, as in \["I0"\]'),
        (
            ["--set", "data.labels=nope.csv"],
            r"data\.labels is 'nope\.csv', and there is no such file",
        ),
        (["--lr", "0.3"], r"no option --lr; settings are given as --set training\.lr=0\.3 "),
        (["--batch-size=3"], r"given as --set training\.batch_size=3 "),
        (["--imbalance", "3"], r"given as --set data\.imbalance=3 "),
        (["--deterministic", "true"], r"given as --set deterministic=true "),
        (["nowhere.toml"], r"Cannot read the settings file nowhere\.toml"),
    ],
)
def test_a_stranger_s_mistakes_get_one_sentence_and_leave_nothing(
    tmp_path: Path, monkeypatch, wrong: list[str], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assigned = [text for text in TINY if not text.startswith(_settled(wrong))]
    arguments = [part for text in assigned for part in ("--set", text)]
    with pytest.raises(UsageError, match=sentence) as caught:
        train(*wrong, *arguments, "--out", "run")
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def _settled(wrong: list[str]) -> tuple[str, ...]:
    """Settings that a test makes itself: its options come before `--set`, which would win."""
    options = {"--data": "data.name", "--noise": "data.noise"}
    named = [options[word] for word in wrong if word in options]
    assigned = [word.partition("=")[0] for word in wrong if "=" in word]
    hidden = ["student.options"] if "student.model" in assigned else []
    return (*named, *assigned, *hidden, "nothing else")


def table_file(path: Path, label: str = "label") -> str:
    rng = np.random.default_rng(0)
    rows = [f"{a:.4f},{b:.4f},{'yes' if a > b else 'no'}" for a, b in rng.normal(size=(120, 2))]
    path.write_text("\n".join([f"a,b,{label}", *rows]) + "\n")
    return str(path)


def image_folder(root: Path) -> str:
    rng = np.random.default_rng(0)
    for k, name in enumerate(("cat", "dog")):
        (root / name).mkdir(parents=True)
        for i in range(20):
            pixels = rng.integers(100 * k, 100 * k + 100, (8, 8, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(root / name / f"{i:02}.png")
    return str(root)


QUICK = ("--epochs", "1", "--threads", "1", "--set", "training.batch_size=16", "--json")


def test_a_table_with_noise_trains_an_mlp(tmp_path: Path) -> None:
    data = table_file(tmp_path / "t.csv", label="churned")
    column = ("--set", "data.label_column=churned", "--noise", "uniform:0.3")
    found = json.loads(train("--data", data, *column, *QUICK, "--out", str(tmp_path / "run")))
    assert found["noise_auroc"] is not None
    with pytest.raises(DataError, match=r"no label column 'label' \(it has a, b, churned\)"):
        train("--data", data, *QUICK, "--out", str(tmp_path / "other"))
    assert not (tmp_path / "other").exists()


def test_arrays_train(tmp_path: Path) -> None:
    x, y = np.random.default_rng(0).normal(size=(90, 3)), np.arange(90) % 3
    np.savez(tmp_path / "a.npz", x_train=x[:60], y_train=y[:60], x_test=x[60:], y_test=y[60:])
    data = ("--data", str(tmp_path / "a.npz"))
    found = json.loads(train(*data, *QUICK, "--out", str(tmp_path / "run")))
    assert found["noise_auroc"] is None  # nobody knows the truth


def test_a_folder_of_images_with_a_trusted_list(tmp_path: Path) -> None:
    data = image_folder(tmp_path / "photos")
    names = [f"{name}/{i:02}.png" for name in ("cat", "dog") for i in range(0, 20, 4)]
    (tmp_path / "checked.txt").write_text("\n".join(names) + "\n")
    trusted = ("--set", f"data.trusted={tmp_path / 'checked.txt'}", "--set", "student.model=cnn")
    small = (*trusted, "--set", "student.options.width=4", "--dry-run")
    found = json.loads(train("--data", data, *QUICK, *small))
    assert found["samples"]["trusted"] == 10


def test_an_unreadable_image_is_named(tmp_path: Path) -> None:
    data = image_folder(tmp_path / "photos")
    (tmp_path / "photos" / "cat" / "07.png").write_text("not an image")
    with pytest.raises(DataError, match=r"07\.png cannot be read as an image"):
        train("--data", data, *QUICK, "--out", str(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def twice_asked() -> None:
    signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("verb", ["train", "compare"])
def test_ctrl_c_twice_in_the_middle_is_one_sentence_and_an_interrupted_run(
    tmp_path: Path, monkeypatch, capsys, verb: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Loop, "step", lambda *_: twice_asked())
    arguments = [part for text in TINY for part in ("--set", text)]
    more = ["--methods", "uniform", "--seeds", "1"] if verb == "compare" else []
    with pytest.raises(SystemExit) as caught:
        main([verb, *arguments, *more, "--json", "--out", "run"])
    assert caught.value.code == 130
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err
    assert "reweigh: stopped by Ctrl-C; what was done so far is in run." in said.err
    (status,) = tmp_path.glob("run/**/status.json")
    assert json.loads(status.read_text())["status"] == "interrupted"


def test_bad_settings_stop_before_anything_is_written(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"training\.lr = -1"):
        train("--set", "training.lr=-1", "--out", "run")
    assert list(tmp_path.iterdir()) == []
