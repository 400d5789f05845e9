"""From the settings of a run to its problem: training, trusted and test samples."""

from pathlib import Path
from typing import TYPE_CHECKING

from reweigh.config import RunConfig, TranslationConfig
from reweigh.data.prepare import DataSpec

if TYPE_CHECKING:
    from reweigh.text.prepare import TextSpec


def data_spec(config: RunConfig) -> DataSpec:
    """The data section, with the seed of the data, as the data package wants it."""
    data = config.data
    return DataSpec(
        data=data.name,
        data_dir=_path(data.dir),
        label_column=data.label_column,
        ignore=tuple(filter(None, map(str.strip, (data.ignore or "").split(",")))),
        image_size=data.image_size,
        labels=_path(data.labels),
        true_labels=data.true_labels,
        drop=_path(data.drop),
        trusted=_path(data.trusted),
        trusted_per_class=data.trusted_per_class,
        noise=data.noise,
        imbalance=data.imbalance,
        train_limit=data.train_limit,
        test_limit=data.test_limit,
        seed=config.seed if data.seed is None else data.seed,
        id_column=data.id_column,
    )


def text_spec(config: TranslationConfig) -> "TextSpec":
    """The data section and the seed, as the text package wants them."""
    from reweigh.text.prepare import TextSpec

    data = config.data.model_dump()
    name, folder, seed = data.pop("name"), data.pop("dir"), data.pop("seed")
    seed = config.seed if seed is None else seed
    pieces = _path(data.pop("vocabulary"))
    return TextSpec(data=name, data_dir=_path(folder), **data, vocabulary=pieces, seed=seed)


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)
