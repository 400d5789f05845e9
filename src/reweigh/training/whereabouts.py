"""Where a run's data is now: paths in its settings are as they were typed, relative to where it began."""

from pathlib import Path
from typing import TypeVar

from reweigh.config import Settings
from reweigh.config.section import Section
from reweigh.data.catalogue import names, text_names
from reweigh.run_files import ENVIRONMENT
from reweigh.training.run_records import read_record

_PATHS = ("name", "dir", "labels", "trusted", "test", "drop", "vocabulary")
_MATRIX = "matrix:"  # what comes before a path in `noise`

S = TypeVar("S", bound=Settings)


def with_data_found(config: S, folder: Path) -> S:
    """The same settings, with data that is not here named where it was when the run began."""
    if (began := _beginning(folder)) is None:
        return config
    paths = {key: getattr(config.data, key, None) for key in _PATHS}
    elsewhere = {key: there for key, path in paths.items() if (there := _there(path, began))}
    noise = config.data.noise.removeprefix(_MATRIX)
    if noise != config.data.noise and (there := _there(noise, began)):
        elsewhere["noise"] = _MATRIX + there
    data = config.data.model_copy(update=elsewhere)
    return config.model_copy(update={"data": data}) if elsewhere else config


def with_origins_found(config: S, folder: Path) -> S:
    """The same for what it begins from: another run's student, another run's teacher."""
    if (began := _beginning(folder)) is None:
        return config
    found: dict[str, Section] = {}
    for section, key in (("student", "start"), ("method", "teacher_from")):
        settings = getattr(config, section)
        if there := _there(getattr(settings, key, None), began):
            found[section] = settings.model_copy(update={key: there})
    return config.model_copy(update=found)


def _beginning(folder: Path) -> Path | None:
    """The folder in which the run's command was typed."""
    began = read_record(folder / ENVIRONMENT).get("folder")
    return Path(began) if isinstance(began, str) else None


def _there(path: str | None, began: Path) -> str | None:
    """`path` below `began`, where that exists and `path` itself does not."""
    if not isinstance(path, str) or path in (*names(), *text_names()) or Path(path).exists():
        return None
    return str(began / path) if (began / path).exists() else None
