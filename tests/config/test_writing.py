import tomllib
from pathlib import Path

import pytest

from reweigh.config import RunConfig, explain, read_config, run_id, to_toml
from reweigh.config.lineup import LINEUP
from reweigh.config.methods import METHODS
from reweigh.config.reading import check
from reweigh.config.section import Section, meaning

RESULTS = Path(__file__).parents[2] / "results"
UNUSUAL = [
    "seed=9",
    "data.name=my folder/täst",
    "data.train_limit=10",
    "data.seed=4",
    "student.options.hidden=[1, 2]",
    "student.options.quote='\"'",
    "training.clip_norm=1",
    "method.teacher=linear",
    "method.features=['I0', 'M1']",
]


@pytest.mark.parametrize("write", [to_toml, explain])
@pytest.mark.parametrize("assignments", [[], UNUSUAL])
def test_written_settings_read_back_equal(write, assignments: list[str]) -> None:
    config = read_config(None, {}, assignments)
    assert check(tomllib.loads(write(config)), "test") == config


@pytest.mark.parametrize("name", LINEUP)
def test_every_method_reads_back_equal(name: str) -> None:
    config = RunConfig(method=LINEUP[name])
    assert check(tomllib.loads(to_toml(config)), "test") == config


def test_every_method_has_a_row() -> None:
    assert {method.name for method in LINEUP.values()} == set(METHODS)


def sections() -> list[type[Section]]:
    return [RunConfig, *METHODS.values()] + [
        field.annotation
        for field in RunConfig.model_fields.values()
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section)
    ]


@pytest.mark.parametrize("section", sections(), ids=lambda s: s.__name__)
def test_every_field_says_what_it_means(section: type[Section]) -> None:
    silent = [name for name, field in section.model_fields.items() if not meaning(field)]
    assert silent == []


def test_explained_settings_show_meaning_range_and_what_is_unset() -> None:
    text = explain(RunConfig())
    assert "# Passes over the training samples. (≥ 1, ≤ 100000)\nepochs = 15" in text
    assert "# clip_norm =" in text


def test_the_id_follows_the_experiment_and_not_the_machine() -> None:
    base = run_id(RunConfig())
    same = ["device=cpu", "threads=1", "data.dir=/elsewhere"]
    other = ["seed=1", "training.lr=0.1", "method.every=7", "data.noise=flip:0.4", "data.seed=0"]
    assert {run_id(read_config(None, {}, [text])) for text in same} == {base}
    assert len({run_id(read_config(None, {}, [text])) for text in other} | {base}) == 6


def test_stored_runs_keep_their_ids() -> None:
    """Else the runs of a table would be done again."""
    homes = [file.parent for file in RESULTS.glob("*/*_s[0-9]*_*/config.toml")]
    assert homes
    ids = [run_id(read_config(home / "config.toml")) for home in homes]
    assert [i[:8] for i in ids] == [home.name.rpartition("_")[2] for home in homes]


def test_the_id_does_not_depend_on_how_a_number_was_written() -> None:
    ids = {run_id(read_config(None, {}, [f"training.lr={lr}"])) for lr in ("1", "1.0", "1e0")}
    assert len(ids) == 1
