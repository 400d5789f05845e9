"""Every recipe at every scale: complete settings that validate, the published values, one name each."""

import tomllib
from typing import get_args

import pytest

from reweigh.config import Settings, run_id, to_toml
from reweigh.config.reading import check
from reweigh.errors import UsageError
from reweigh.paper.catalogue import RECIPES, find
from reweigh.paper.cell import TEACHER, Cell, Scale

SCALES = get_args(Scale)
PUBLISHED = {
    "table1": 36, "features": 7, "levels": 5, "teacher": 4, "deeper": 3, "steps": 6,
    "weights": 0, "uniform": 32, "flip": 32, "bleu": 6, "transfer": 6,
}  # fmt: skip


def cells(name: str, scale: Scale) -> list[Cell]:
    return list(find(name).cells(scale))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", RECIPES)
def test_every_cell_has_settings_that_can_be_written_and_read(name: str, scale: Scale) -> None:
    found = cells(name, scale)
    assert len({(c.row, c.column) for c in found}) == len(found)
    for cell in found:
        assert cell.settings or cell.why
        assert cell.published or cell.why
        origin = [cell.origin.settings] if cell.origin else []
        for settings in (*cell.settings, *origin):
            again: Settings = check(tomllib.loads(to_toml(settings)), "a recipe")
            assert again == settings


@pytest.mark.parametrize("name", RECIPES)
def test_all_values_of_the_paper_are_there_at_every_scale(name: str) -> None:
    for scale in SCALES:
        assert sum(c.published is not None for c in cells(name, scale)) == PUBLISHED[name]


@pytest.mark.parametrize("name", RECIPES)
def test_scales_have_the_same_shape_and_no_run_in_common(name: str) -> None:
    shapes = [[(c.row, c.columns[1]) for c in cells(name, scale)] for scale in SCALES]
    assert shapes[0] == shapes[1] == shapes[2]
    ids = [{run_id(s) for c in cells(name, scale) for s in c.settings} for scale in SCALES]
    assert not (ids[0] & ids[1])
    assert not (ids[1] & ids[2])
    assert not (ids[0] & ids[2])


def test_full_is_what_the_paper_says() -> None:
    ours = {c.column: c for c in cells("table1", "full") if c.row == TEACHER}
    (settings,) = ours["CIFAR-100, WRN-28-10"].settings
    assert settings.task == "classification"
    training, method = settings.training, settings.method
    assert (training.epochs, training.lr, training.momentum) == (300, 0.1, 0.9)
    assert (training.batch_size, training.schedule) == (128, "paper-clean")
    assert (settings.data.name, settings.data.trusted_per_class) == ("cifar100", 50)
    assert method.name == "deep"
    assert (method.every, method.through, method.features) == (20, 2, ("I0", "M0"))
    assert settings.data.train_limit is None
    by_noise = {c.column: c.settings[0] for c in cells("uniform", "full") if c.row == TEACHER}
    noisy = by_noise["CIFAR-10, 60% uniform"]
    assert (noisy.student.model, noisy.training.epochs) == ("wrn-28-10", 40)
    assert noisy.data.noise == "uniform:0.6"


def test_values_stand_where_the_paper_has_them() -> None:
    def value(name: str, row: str, column: str) -> float:
        (found,) = [c for c in cells(name, "full") if (c.row, c.column) == (row, column)]
        assert found.published is not None
        return found.published.value

    assert value("table1", "SPL", "CIFAR-10, ResNet-110") == 11.06
    assert value("flip", "Meta-Weight-Net", "CIFAR-100, 40% flip") == 41.36
    assert value("uniform", "GLC", "CIFAR-10, 40% uniform") == 11.72
    assert value("transfer", f"{TEACHER}, moved", "to CIFAR-100, ResNet-32") == 92.45
    assert value("steps", "K = 100, B = 5", "CIFAR-10, ResNet-32") == 6.24
    assert value("bleu", TEACHER, "IWSLT'14 De-En (noisy)") == 35.56


@pytest.mark.parametrize("name", RECIPES)
def test_columns_and_captions_name_what_is_trained(name: str) -> None:
    """Where other data and students take the places of the paper's, no column carries its names."""
    paper = {column for c in cells(name, "full") for column in c.columns}
    for scale in ("tiny", "cpu"):
        runnable = [c for c in cells(name, scale) if c.settings]
        assert not paper & {c.column for c in runnable}
        assert {c.columns[1] for c in runnable} <= paper
        for cell in runnable:
            (data, student, epochs), caption = cell.terms.values(), find(name).captions[scale]
            shown = cell.column.lower().replace("-", "").replace("small transformer", "transformer")
            assert data in shown
            assert student.removesuffix("small").replace("-", "") in shown
            assert f"{epochs} epochs" in caption or f"or {epochs} of fine-tuning" in caption
            assert "do not compare" in caption


def test_names_of_columns() -> None:
    def columns(name: str, scale: Scale) -> list[str]:
        return list(dict.fromkeys(c.column for c in cells(name, scale)))

    assert columns("deeper", "tiny") == ["digits, ResNet-8"]
    assert columns("flip", "full")[1] == "CIFAR-10, 40% flip"
    assert columns("flip", "cpu")[1] == "CIFAR-10 10k, ResNet-8, 40% flip"
    assert columns("uniform", "tiny")[2] == "mnist5k, WRN-10-1, 40% uniform"
    assert columns("transfer", "tiny")[0] == "to mnist5k, ResNet-8"
    assert columns("bleu", "cpu")[1] == "Multi30k De-En (noisy), small Transformer"


def test_rows_that_train_on_trusted_samples_are_known() -> None:
    assert list(dict.fromkeys(c.row for c in cells("flip", "tiny") if c.on_trusted)) == [
        *("GLC", "default of this package", "trusted mixed in"),
        "perfect weights with trusted mixed in",
    ]


def test_an_unknown_recipe_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="No recipe 'tabel1'; did you mean table1"):
        find("tabel1")
