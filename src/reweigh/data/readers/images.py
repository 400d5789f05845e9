"""Images on disk: a folder with one sub-folder a class, or a CSV of path and label.

    folder/train/cat/1.png  folder/test/cat/2.png  [folder/trusted/cat/3.png]
    folder/cat/1.png                                            (a fifth becomes the test set)
    listing.csv: path,label[,split][,trusted]                   (paths relative to the CSV)

All images are held in memory as bytes. They must be of one size unless `image_size` resizes them.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reweigh.data.classes import class_names_of, encode
from reweigh.data.columns import Columns
from reweigh.data.roles import parts_of
from reweigh.data.samples import Samples, Source, numbered
from reweigh.data.splits import hold_out_test
from reweigh.errors import DataError

SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm"}


def read_folder(root: Path, image_size: int | None = None) -> Source:
    """The source in a folder of class sub-folders.

    Beside `train/`, the folders `test/` and `trusted/` are parts; without it they are classes.
    """
    in_parts = (root / "train").is_dir()
    train = root / "train" if in_parts else root
    class_names = class_names_of(_walk(train)[1])

    def part(folder: Path) -> Samples | None:
        return _read_part(folder, class_names, image_size) if folder.is_dir() else None

    whole = _read_part(train, class_names, image_size)
    test = part(root / "test") if in_parts else None
    trusted = part(root / "trusted") if in_parts else None
    if test is not None:
        return Source(whole, test, class_names, "image", "given", trusted)
    held_out = hold_out_test(whole.labels, whole.content_hashes())
    return Source(
        whole.take(~held_out), whole.take(held_out), class_names, "image", "ours", trusted
    )


def read_listing(
    columns: Columns,
    label_column: str,
    path: Path,
    image_size: int | None,
    id_column: str | None = None,
) -> Source:
    """The source in a CSV whose column `path` names image files, and the samples unless `id_column` does."""
    texts, files = columns.labels(label_column), columns.texts("path")
    class_names = class_names_of(texts)
    images = read_images([path.parent / name for name in files.tolist()], image_size)
    names = files if id_column is None else columns.texts(id_column)
    whole = numbered(images, encode(texts, class_names, str(path)), names)
    parts = parts_of(columns, whole, class_names, "image")
    return replace(parts, id_column=id_column, remarks=columns.remarks())


def _read_part(folder: Path, class_names: tuple[str, ...], image_size: int | None) -> Samples:
    paths, texts = _walk(folder)
    names = np.asarray([str(path.relative_to(folder)) for path in paths])
    labels = encode(texts, class_names, str(folder))
    return numbered(read_images(paths, image_size), labels, names)


def _walk(folder: Path) -> tuple[list[Path], NDArray[np.str_]]:
    """Every image below `folder`'s class sub-folders, with the class's name."""
    classes = sorted(f for f in folder.iterdir() if f.is_dir() and not f.name.startswith("."))
    paths = [path for f in classes for path in sorted(visible_images(f))]
    if not paths:
        listings = sorted(path.name for path in folder.glob("*.csv"))
        beside = f"--data {folder / listings[0]}" if listings else "--data labels.csv"
        if any(folder.glob("train.*")):
            beside += (
                "; sentence pairs (train.tsv, or train.de with train.en) need --task translation"
            )
        raise DataError(
            f"{folder} has no images in sub-folders (one sub-folder a class); where a CSV with the "
            f"columns path,label says what they are, give that: {beside}."
        )
    return paths, np.asarray([path.relative_to(folder).parts[0] for path in paths])


def visible_images(root: Path) -> Iterable[Path]:
    """Files below `root` that are images by their ending; Thumbs.db and notes.txt are nobody's samples.

    What a dot hides, a file or a folder, stays hidden.
    """
    files = (path for path in root.rglob("*") if path.is_file())
    shown = (f for f in files if not any(p.startswith(".") for p in f.relative_to(root).parts))
    return (path for path in shown if path.suffix.lower() in SUFFIXES)


def read_images(
    paths: list[Path], image_size: int | None, like: tuple[int, ...] | None = None
) -> NDArray[np.uint8]:
    """(n, h, w, c), as `like` is (h, w, c).

    Unless it is given, all are of one size, with one channel only if every image is grey.
    """
    channels = None if like is None else like[2]
    images = [_load(path, image_size, channels) for path in paths]
    size = images[0].shape[:2] if like is None else like[:2]
    for image, path in zip(images, paths, strict=True):
        if image.shape[:2] != size:
            raise DataError(_other_size(path, image.shape[:2], size, paths[0], like is not None))
    channels = channels or max(1 if image.ndim == 2 else 3 for image in images)
    shape = (*size, channels)
    return np.stack([np.broadcast_to(i[..., None] if i.ndim == 2 else i, shape) for i in images])


def _other_size(
    path: Path, found: tuple[int, ...], size: tuple[int, ...], first: Path, trained: bool
) -> str:
    if trained:
        return (
            f"{path} has size {found} and the student takes {size}; resize the image, or train with "
            f"data.image_size, which resizes all."
        )
    return (
        f"{path} has size {found} but {first} has {size}; images must be of one size: set image_size "
        f"to resize them all."
    )


def _load(path: Path, image_size: int | None, channels: int | None) -> NDArray[np.uint8]:
    """One image: (h, w) if it is grey or shall be, else (h, w, 3)."""
    try:
        from PIL import Image
    except ImportError:
        raise DataError(
            "Reading images needs Pillow, which is not installed; "
            "run `pip install 'reweigh[images]'`."
        ) from None
    try:
        with Image.open(path) as image:
            _refuse_deep(image.mode, path)
            grey = channels == 1 or image.mode in {"1", "L"}
            plain = image.convert("L" if grey else "RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as problem:
        raise DataError(f"{path} cannot be read as an image ({problem}).") from None
    if image_size is not None:
        plain = plain.resize((image_size, image_size), Image.Resampling.BILINEAR)
    return np.asarray(plain)


def _refuse_deep(mode: str, path: Path) -> None:
    """Pillow clips 16 bits to 8: all that is not black would become white."""
    if mode.startswith(("I", "F")):
        raise DataError(
            f"{path} has more than 8 bits a pixel (Pillow's mode {mode}); convert the images to 8 bits, "
            f"with the range of brightness that matters."
        )
