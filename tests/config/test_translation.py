from pathlib import Path

import pytest

from reweigh.config import RunConfig, TranslationConfig, read_config, run_id, to_toml
from reweigh.config.lineup import PRETRAINED, choose, folder_name, tuned
from reweigh.errors import UsageError
from reweigh.training.tasks.translation import Translation


def translation(*assignments: str) -> TranslationConfig:
    config = read_config(None, {"task": "translation"}, assignments)
    assert isinstance(config, TranslationConfig)
    return config


def test_settings_come_back_from_toml(tmp_path: Path) -> None:
    config = translation("data.noise=mask:0.1:0.15", "student.start=runs/a", "training.updates=9")
    (tmp_path / "c.toml").write_text(to_toml(config))
    assert read_config(tmp_path / "c.toml") == config


def test_keys_of_the_other_task_are_unknown() -> None:
    with pytest.raises(UsageError, match=r"unknown key data\.trusted_per_class"):
        translation("data.trusted_per_class=3")
    with pytest.raises(UsageError, match=r"unknown key training\.max_tokens"):
        read_config(None, {}, ["training.max_tokens=3"])
    with pytest.raises(UsageError, match="did you mean translation"):
        read_config(None, {"task": "translate"})


@pytest.mark.parametrize("noise", ["mask", "mask:2", "mask:0.1:x", "flip:0.4", "mask:0.1:0.2:0.3"])
def test_noise_is_none_or_mask(noise: str) -> None:
    with pytest.raises(UsageError, match="expected none, mask:P or mask:P:Q"):
        translation(f"data.noise={noise}")


def test_updates_are_the_length_where_they_are_given() -> None:
    assert translation("training.epochs=3").training.length(10) == (3, 30)
    assert translation("training.updates=25").training.length(10) == (3, 25)


def test_rows_begin_from_one_student_and_its_pairs() -> None:
    tune = translation("training.optimizer=sgd")
    rows = [
        (name, tune.model_copy(update={"method": method, "seed": seed}))
        for name, method in choose("uniform,deep", "translation").items()
        for seed in (0, 1)
    ]
    before = translation("training.epochs=2", "seed=5")
    runs = tuned(rows, before)
    assert runs[0] == (PRETRAINED, before)
    for (name, config), (_, asked) in zip(runs[1:], rows, strict=True):
        assert isinstance(config, TranslationConfig)
        assert name in ("uniform", "deep")
        assert config.student.start == folder_name(PRETRAINED, before)
        assert (config.seed, Translation.spec(config).seed) == (asked.seed, 5)
    assert len({run_id(c) for _, c in runs}) == 5
    with pytest.raises(UsageError, match="--pretrain is for task"):
        tuned([("uniform", RunConfig())], before)


def test_deep_means_the_teacher_for_pairs() -> None:
    wanted = choose("deep", "translation")["deep"]
    assert translation().method == translation("method.name=deep").method == wanted
    assert translation("method.every=20").method == wanted.model_copy(update={"every": 20})
    assert translation("method.name=deep", "method.teacher=mlp").method.teacher == "mlp"
    for teacher in ("posterior", "margin"):
        with pytest.raises(UsageError, match=f"'{teacher}' needs classes; for sentence pairs"):
            translation(f"method.teacher={teacher}")


def test_rows_for_pairs() -> None:
    assert next(iter(choose("all", "translation"))) == "uniform"
    assert "focal" not in choose("all", "translation")
    with pytest.raises(UsageError, match="focal-2 cannot weigh sentence pairs"):
        choose("uniform,focal-2", "translation")
