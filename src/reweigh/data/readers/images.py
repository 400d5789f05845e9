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
from reweigh.data.readers.image_files import read_images
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
    others = [root / part for part in ("test", "trusted") if in_parts]
    class_names = class_names_of(_walk(train)[1])
    parts = _read_parts([train, *filter(Path.is_dir, others)], class_names, image_size)
    whole, test, trusted = parts[train], parts.get(root / "test"), parts.get(root / "trusted")
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
    if not (named := files != "").all():
        raise DataError(
            f"{path}: data row {named.argmin() + 1} has no path; name its image or drop it."
        )
    class_names = class_names_of(texts)
    images = read_images([path.parent / name for name in files.tolist()], image_size)
    names = files if id_column is None else columns.texts(id_column)
    whole = numbered(images, encode(texts, class_names, str(path)), names)
    parts = parts_of(columns, whole, class_names, "image", id_column)
    return replace(parts, remarks=columns.remarks())


def _read_parts(
    folders: list[Path], class_names: tuple[str, ...], image_size: int | None
) -> dict[Path, Samples]:
    """The samples of each folder; read together, so that what is broken is told at once."""
    walks = {folder: _walk(folder) for folder in folders}
    labels = {f: encode(texts, class_names, str(f)) for f, (_, texts) in walks.items()}
    images = read_images([path for paths, _ in walks.values() for path in paths], image_size)
    ends = np.cumsum([len(paths) for paths, _ in walks.values()])
    return {
        f: numbered(part, labels[f], np.asarray([str(path.relative_to(f)) for path in walks[f][0]]))
        for f, part in zip(folders, np.split(images, ends[:-1]), strict=True)
    }


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

    What a dot hides, a file or a folder, stays hidden. Links to folders are followed, but not to one
    that they lie in.
    """

    def inside(folder: Path, above: tuple[Path, ...]) -> Iterable[Path]:
        for path in folder.iterdir():
            if path.name.startswith("."):
                continue
            if path.is_file():
                yield path
            elif path.is_dir():
                real = path.resolve()
                if not any(one.is_relative_to(real) for one in above):
                    yield from inside(path, (*above, real))

    return (path for path in inside(root, (root.resolve(),)) if path.suffix.lower() in SUFFIXES)
