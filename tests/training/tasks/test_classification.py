from dataclasses import fields
from pathlib import Path

from reweigh.config import read_config
from reweigh.config.data import DataConfig
from reweigh.data.prepare import DataSpec
from reweigh.training.tasks.classification import Classification

RENAMED = {"name": "data", "dir": "data_dir"}


def test_every_setting_reaches_the_data() -> None:
    settings = {RENAMED.get(name, name) for name in DataConfig.model_fields}
    assert settings == {field.name for field in fields(DataSpec)}


def test_values_arrive() -> None:
    config = read_config(
        None, {}, ["seed=3", "data.name=digits", "data.dir=d", "data.noise=flip:0.4"]
    )
    spec = Classification.spec(config)
    assert (spec.seed, spec.data, spec.data_dir, spec.noise) == (3, "digits", Path("d"), "flip:0.4")


def test_the_data_have_a_seed_of_their_own_where_one_is_given() -> None:
    def spec(*assignments: str) -> DataSpec:
        return Classification.spec(read_config(None, {}, assignments))

    assert spec("seed=3", "data.seed=0") == spec("seed=0") != spec("seed=3")
