"""Samples without labels, for a student that was trained before.

A folder of images (sub-folders and all), one image, a table, a table whose column `path` lists
images, or an `.npz` file with an array `x`. Labels that happen to be there are not looked at.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.data.columns import Columns
from reweigh.data.encoding import Encoding
from reweigh.data.naming import ID, spelled
from reweigh.data.npz import read_npz
from reweigh.data.readers.arrays import inputs_of
from reweigh.data.readers.image_files import read_fit
from reweigh.data.readers.images import SUFFIXES, visible_images
from reweigh.data.samples import Kind
from reweigh.errors import DataError, UsageError


@dataclass(frozen=True)
class Unlabelled:
    """Inputs, and what each one is called: a file's path, a row's `id`, else its number."""

    inputs: NDArray[Any]  # (n, h, w, c) uint8 for images, (n, d) float32 for tables
    names: NDArray[np.str_]  # (n,)
    cautions: tuple[str, ...] = ()
    """What to know before believing a prediction."""
    unfit: dict[Path, str] = field(default_factory=dict)
    """Image files that are not among the inputs, broken or of another size, and why."""


@dataclass(frozen=True)
class Reader:
    """Reads what one kind of student takes."""

    kind: Kind
    shape: tuple[int, ...]
    """(height, width, channels) of an image, (d,) of a row."""
    image_size: int | None
    encoding: Encoding | None
    """Of a table's columns; None where the student learned from arrays."""
    id_column: str | None = None
    """The column that names a table's rows; None: one called id."""

    def __call__(self, path: Path) -> Unlabelled:
        """What is in a folder or file."""
        ending = path.suffix.lower()
        if path.is_dir():
            files = sorted(visible_images(path))
            return self._images(files, [str(file.relative_to(path)) for file in files], path)
        if not path.is_file():
            raise UsageError(f"{str(path)!r} is neither a folder nor a file.")
        if ending == ".npz":
            return _numbered(self.array(_array(path), str(path)))
        if ending in {".csv", ".parquet"}:
            return self._table(path)
        return self._images([path], [path.name], path)

    def array(self, raw: NDArray[Any], origin: str) -> NDArray[Any]:
        """Raw images, or rows that are the numbers that the student learned from."""
        if self.encoding is not None:
            raise DataError(
                f"The student learned from the columns {self.encoding.names} of a table, by their "
                f"names; give a table (.csv, .parquet), not {origin}."
            )
        if self.kind == "image" and raw.ndim == 3:
            raw = raw[..., None]
        return inputs_of(raw, origin)

    def _images(self, files: list[Path], names: list[str], origin: Path) -> Unlabelled:
        if self.kind != "image":
            takes = ".npz" if self.encoding is None else ".csv, .parquet"
            raise DataError(f"The student takes rows of a table ({takes}), not {origin}.")
        strange = [file for file in files if file.suffix.lower() not in SUFFIXES]
        if strange or not files:
            what = f"{strange[0].name} is no image" if strange else "there is no image"
            raise DataError(f"{origin}: {what} ({', '.join(sorted(SUFFIXES))}).")
        inputs, unfit = read_fit(files, self.image_size, self.shape)
        kept = [name for name, file in zip(names, files, strict=True) if file not in unfit]
        return Unlabelled(inputs, np.asarray(kept), unfit=unfit)

    def _table(self, path: Path) -> Unlabelled:
        columns = Columns.read(path)
        if self.kind == "image":
            if "path" not in columns.names:
                raise DataError(f"{path} has no column 'path' that names image files.")
            files = [path.parent / name for name in columns.texts("path").tolist()]
            key = spelled(self.id_column or "path", columns.names) or "path"
            found = self._images(files, columns.texts(key).tolist(), path)
            return replace(found, cautions=columns.remarks())
        if self.encoding is None:
            raise DataError(
                f"The student learned from arrays, not from a table; give an .npz, not {path}."
            )
        inputs = self.encoding(columns)
        remarks = columns.remarks(column.name for column in self.encoding.columns)
        cautions = (*remarks, *self.encoding.cautions(columns))
        key = spelled(self.id_column or ID, columns.names)
        if key is None:
            return _numbered(inputs, cautions)
        return Unlabelled(inputs, columns.texts(key), cautions)


def _array(path: Path) -> NDArray[Any]:
    found = read_npz(path)
    for name in ("x", "x_test", *(found if len(found) == 1 else ())):
        if name in found:
            return found[name]
    raise DataError(f"{path} has no array 'x' (it has {', '.join(found) or 'none'}).")


def _numbered(inputs: NDArray[Any], cautions: tuple[str, ...] = ()) -> Unlabelled:
    return Unlabelled(inputs, np.arange(len(inputs)).astype(np.str_), cautions)
