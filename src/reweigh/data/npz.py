"""All arrays of one `.npz` file."""

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.errors import DataError


def read_npz(path: Path) -> dict[str, NDArray[Any]]:
    """Every array of the file, without pickles."""
    try:
        file = np.load(path, allow_pickle=False)
        if not isinstance(file, np.lib.npyio.NpzFile):
            raise ValueError("it is a single array")
        with file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as problem:
        raise DataError(f"{path} cannot be read as .npz arrays ({problem}).") from None
