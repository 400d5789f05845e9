import math
import shlex
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reweigh.config import read_config
from reweigh.config.methods import DeepConfig, FocalConfig
from reweigh.config.reading import parse_assignment
from reweigh.errors import UsageError


def complaint(*assignments: str) -> str:
    with pytest.raises(UsageError) as caught:
        read_config(None, {}, assignments)
    return str(caught.value)


@pytest.mark.parametrize("name", ["good.csv", "my table.PARQUET", "a.npz", "photos"])
def test_data_in_place_of_settings_is_told_where_it_belongs(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("a,label\n1,x\n") if path.suffix else path.mkdir()
    with pytest.raises(UsageError) as caught:
        read_config(path)
    assert str(caught.value) == (
        f"{path} is data, not a settings file (.toml); give it as --data {shlex.quote(str(path))}."
    )


def test_later_sources_win(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text("seed = 1\n[training]\nlr = 0.5\nepochs = 3\n")
    config = read_config(file, {"training.epochs": 4, "seed": 2}, ["seed=3"])
    assert (config.seed, config.training.lr, config.training.epochs) == (3, 0.5, 4)


def test_method_name_chooses_the_section_and_deep_is_the_default() -> None:
    assert read_config(None, {}, ["method.name=focal", "method.gamma=2"]).method == FocalConfig(
        gamma=2.0
    )
    assert read_config(None, {}, ["method.every=5"]).method == DeepConfig(every=5)


def test_nothing_after_the_sign_is_the_default_again(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text("[training]\nlr = 7.0\n")
    assert read_config(file, {}, ["training.lr="]) == read_config(None)
    for known in ("method.hidden_layers=", "student.options.width=", "data.vocabulary=", "method="):
        assert read_config(file, {}, [known]).training.lr == 7.0
    for typo, told in (
        ("training.lrr=", "unknown key training.lrr; did you mean lr"),
        ("trainig.lr=", "unknown key trainig; did you mean training"),
        ("training.lr.at.all=", "training.lr.at.all: lr is a value"),
    ):
        with pytest.raises(UsageError, match=told):
            read_config(file, {}, [typo])
    with pytest.raises(UsageError, match=r"In .*c\.toml and the options: training\.lr = -1"):
        read_config(file, {}, ["training.lr=-1"])


def test_unknown_keys_offer_the_nearest_name() -> None:
    assert "unknown key training.epoch; did you mean epochs" in complaint("training.epoch=3")
    assert "unknown key method.evry; did you mean every?" in complaint("method.evry=3")
    assert "method.name = 'dep'; did you mean deep?" in complaint("method.name=dep")
    assert "unknown key method.every; known are name, gamma" in complaint(
        "method.name=focal", "method.every=2"
    )


def test_all_errors_of_one_call_are_told_with_key_value_and_range() -> None:
    text = complaint("training.lr=nan", "seed=-1", "data.noise=uniform:1.4", "method.every=true")
    assert text.startswith("4 errors in the settings:")
    assert "training.lr = nan should be a finite number (allowed: > 0, ≤ 100)" in text
    assert "seed = -1 should be greater than or equal to 0" in text
    assert "data.noise = 'uniform:1.4': the rate '1.4' should be a number from 0 to 1" in text
    assert "method.every = True should be a valid integer (allowed: ≥ 1" in text


@pytest.mark.parametrize(
    "wrong",
    [
        "method=3",
        "data=[]",
        "method.through=50",
        "method.features=['I9']",
        "method.features=[]",
        "method.features=['I0','I0']",
        "method.features=['I0']",
        "method.hidden_layers=2",
        "method={teacher='mine:f',hidden_layers=2}",
        "method={teacher='mine:f',features=['I0']}",
        "student.options.x=nan",
        "student.options.x.y=1",
        "training.lr=1e400",
        "training.lr=-inf",
        "training.epochs=2.5",
        "training.epochs='3'",
        "training.schedule=linear",
        "training.nesterov=1",
        "seed=99999999999999999999999999",
        "seed=2020-01-01",
        "data.noise=uniform:nan",
        "data.noise=flip",
        "data.imbalance=0.5",
        "device=tpu",
        "a.b.c.d=1",
        "=1",
        "training.lr",
    ],
)
def test_wrong_values_are_refused_in_a_sentence_with_the_key(wrong: str) -> None:
    key = wrong.partition("=")[0].split(".")[0]
    assert key in complaint(wrong)


def test_settings_that_need_each_other() -> None:
    assert "nesterov = true needs" in complaint("training.nesterov=true", "training.momentum=0.0")
    assert "exceeds epochs" in complaint("training.warmup_epochs=20", "training.epochs=2")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xef\xbb\xbfseed = 3\r\n[data]\r\nname = 'digits'\r\n", None),
        ("seed = 3".encode("utf-16"), "line 1: the file is UTF-16"),
        (b"seed = 3\n# caf\xe9\n", "line 2: not UTF-8"),
        (b"seed = 3\nseed = 4\n", "line 2"),
        (b"seed = \n", "line 1"),
        (b"seed = 3\x00", "not valid TOML"),
        (b"a = " + b"[" * 5000, "nested too deeply"),
        (b"a = " + b"9" * 5000, "not valid TOML"),
        (b"#" * 1_000_001, "1,000,001 bytes"),
    ],
)
def test_files_of_all_kinds(tmp_path: Path, content: bytes, expected: str | None) -> None:
    file = tmp_path / "run.toml"
    file.write_bytes(content)
    if expected is None:
        assert read_config(file).seed == 3
        return
    with pytest.raises(UsageError, match=expected) as caught:
        read_config(file)
    assert "run.toml" in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.toml: No such file"):
        read_config(tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=1", 1),
        ("a=1e-3", 1e-3),
        ("a=true", True),
        ("a=[1, 2]", [1, 2]),
        ("a=flip:0.4", "flip:0.4"),
        ("a='1'", "1"),
        ("a=", ""),
        ("a=b=c", "b=c"),
        ("a=1\nb = 2", "1\nb = 2"),
        ("a=__import__('os')", "__import__('os')"),
    ],
)
def test_assignments_are_toml_or_text(text: str, expected: object) -> None:
    assert parse_assignment(text) == ("a", expected)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=40))
def test_any_assignment_is_accepted_or_refused_politely(text: str) -> None:
    try:
        config = read_config(None, {}, [text])
    except UsageError:
        return
    assert math.isfinite(config.training.lr)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["seed", "data.name", "training.lr", "method", "method.name", "student.options"]
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=3))
def test_any_tree_is_accepted_or_refused_politely(tree: dict[str, object]) -> None:
    with suppress(UsageError):
        read_config(None, tree)
