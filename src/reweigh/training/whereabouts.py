"""Where a run's data is now: paths in its settings are as they were typed, relative to where it began."""

from pathlib import Path
from typing import TypeVar

from reweigh.config import Settings
from reweigh.data.catalogue import names, text_names
from reweigh.training.run_folder import read_record

_PATHS = ("name", "dir", "labels", "trusted", "drop", "vocabulary")
_MATRIX = "matrix:"  # what comes before a path in `noise`

S = TypeVar("S", bound=Settings)


def with_data_found(config: S, folder: Path) -> S:
    """The same settings, with data that is not here named where it was when the run began."""
    began = read_record(folder / "env.json").get("folder")
    if not isinstance(began, str):
        return config
    paths = {key: getattr(config.data, key, None) for key in _PATHS}
    elsewhere = {key: there for key, path in paths.items() if (there := _there(path, Path(began)))}
    noise = config.data.noise.removeprefix(_MATRIX)
    if noise != config.data.noise and (there := _there(noise, Path(began))):
        elsewhere["noise"] = _MATRIX + there
    data = config.data.model_copy(update=elsewhere)
    return config.model_copy(update={"data": data}) if elsewhere else config


def _there(path: str | None, began: Path) -> str | None:
    """`path` below `began`, where that exists and `path` itself does not."""
    if not isinstance(path, str) or path in (*names(), *text_names()) or Path(path).exists():
        return None
    return str(began / path) if (began / path).exists() else None
