"""Where a run's data is now: paths in its settings are as they were typed, relative to where it began."""

from pathlib import Path
from typing import TypeVar

from reweigh.config import Settings
from reweigh.data.catalogue import names, text_names
from reweigh.training.run_folder import read_record

_PATHS = ("name", "dir", "labels", "trusted", "drop")

S = TypeVar("S", bound=Settings)


def with_data_found(config: S, folder: Path) -> S:
    """The same settings, with data that is not here named where it was when the run began."""
    began = read_record(folder / "env.json").get("folder")
    if not isinstance(began, str):
        return config
    elsewhere = {
        key: str(Path(began) / path)
        for key in _PATHS
        if isinstance(path := getattr(config.data, key, None), str)
        and path not in (*names(), *text_names())
        and not Path(path).exists()
        and (Path(began) / path).exists()
    }
    data = config.data.model_copy(update=elsewhere)
    return config.model_copy(update={"data": data}) if elsewhere else config
