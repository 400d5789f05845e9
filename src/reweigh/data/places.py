"""Where files of the named data sets are looked for, and where downloads go."""

import os
from collections.abc import Sequence
from pathlib import Path

from reweigh.errors import DataError


def cache_folder() -> Path:
    """Where downloads go if nobody says, and what was worked out of data is kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "reweigh"


def search_path(data_dir: Path | None) -> list[Path]:
    """Folders to look in: `data_dir` alone if given, else `REWEIGH_DATA`, then the cache folder."""
    if data_dir is not None:
        return [data_dir]
    named = os.environ.get("REWEIGH_DATA")
    return [Path(named), cache_folder()] if named else [cache_folder()]


def find(name: str, wanted: Sequence[str], data_dir: Path | None, *more: Path) -> Path:
    """The first existing one of the `wanted` files or folders of data set `name`.

    Each folder of the search path is looked at itself and in its sub-folder `name` (and may be
    the wanted folder); `more` are further known places.
    """
    folders = [f for place in search_path(data_dir) for f in (place / name, place)]
    for folder in [*folders, *more]:
        if folder.name in wanted and folder.is_dir():
            return folder
        for candidate in wanted:
            if (folder / candidate).exists():
                return folder / candidate
    looked = ", ".join(str(place) for place in [*search_path(data_dir), *more])
    raise DataError(
        f"No files of {name} found in {looked} (wanted {' or '.join(wanted)}); run "
        f"`reweigh data get {name}`, or give their folder with --data-dir or REWEIGH_DATA."
    )
