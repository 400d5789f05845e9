"""Arrays in one `.npz` file.

`x_train, y_train, x_test, y_test`, optionally `x_trusted, y_trusted` and `class_names`. Images are
`uint8` of shape (n, h, w) or (n, h, w, c); anything two-dimensional is a table and is taken as it
is, so scale it first. Labels are class numbers from 0, or class names.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.data.classes import class_names_of, encode
from reweigh.data.columns import repeated
from reweigh.data.npz import read_npz
from reweigh.data.samples import Kind, Samples, Source, numbered
from reweigh.errors import DataError


def read(path: Path) -> Source:
    """The source in an `.npz` file; object arrays (pickles) are refused."""
    arrays = read_npz(path)
    for name in ("x_train", "y_train", "x_test", "y_test"):
        if name not in arrays:
            raise DataError(f"{path} has no array {name!r} (it has {', '.join(arrays) or 'none'}).")
    class_names = _class_names(arrays, path)
    return Source(
        train=samples_of(arrays, "train", class_names, path),
        test=samples_of(arrays, "test", class_names, path),
        class_names=class_names,
        kind=_kind(arrays["x_train"]),
        split="given",
        trusted=samples_of(arrays, "trusted", class_names, path) if "x_trusted" in arrays else None,
    )


def samples_of(
    arrays: dict[str, NDArray[Any]], part: str, class_names: tuple[str, ...], path: Path
) -> Samples:
    """The samples in `x_<part>` and `y_<part>`."""
    if f"y_{part}" not in arrays:
        raise DataError(f"{path} has x_{part} but no y_{part}.")
    inputs, labels = inputs_of(arrays[f"x_{part}"], f"{path}: x_{part}"), arrays[f"y_{part}"]
    if labels.shape != (len(inputs),):
        raise DataError(
            f"{path}: y_{part} has shape {labels.shape}, expected ({len(inputs)},) as x_{part} has "
            f"{len(inputs)} samples."
        )
    if labels.dtype.kind == "U":
        return numbered(inputs, encode(labels, class_names, str(path)))
    if labels.dtype.kind not in "iu":
        raise DataError(f"{path}: y_{part} has type {labels.dtype}; expected numbers or names.")
    return numbered(inputs, labels.astype(np.int64))


def _kind(inputs: NDArray[Any]) -> Kind:
    return "table" if inputs.ndim == 2 else "image"


def inputs_of(inputs: NDArray[Any], origin: str) -> NDArray[Any]:
    """An array as a student takes it: uint8 images (n, h, w, c) or a float32 table (n, d)."""
    if inputs.ndim == 2 and inputs.dtype.kind in "iufb":
        with np.errstate(over="ignore"):  # infinities are told where samples are checked
            return inputs.astype(np.float32)
    if inputs.dtype == np.uint8 and inputs.ndim in (3, 4):
        return inputs if inputs.ndim == 4 else inputs[..., None]
    raise DataError(
        f"{origin} has type {inputs.dtype} and shape {inputs.shape}; expected uint8 images "
        f"(n, h, w[, c]) or a numeric table (n, d)."
    )


def _class_names(arrays: dict[str, NDArray[Any]], path: Path) -> tuple[str, ...]:
    if "class_names" in arrays:
        names = arrays["class_names"].reshape(-1).astype(np.str_)
        if (twice := repeated(names)) is not None:
            raise DataError(f"{path}: class_names has {twice!r} twice; each class needs its own.")
        return tuple(names.tolist())
    labels = arrays["y_train"]
    if labels.dtype.kind == "U":
        return class_names_of(labels)
    if labels.dtype.kind not in "iu" or labels.size == 0:
        raise DataError(
            f"{path}: y_train has type {labels.dtype} and {labels.size} values; expected class "
            f"numbers or names."
        )
    if (most := int(labels.max())) >= labels.size:  # some class is without a sample
        raise DataError(
            f"{path}: y_train has the label {most} among {labels.size} samples; number the classes from 0 "
            "without gaps, or give their names."
        )
    return tuple(str(c) for c in range(most + 1))
