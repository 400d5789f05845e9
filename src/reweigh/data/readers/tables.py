"""Tables from CSV or Parquet: one row a sample, one column the label.

Columns become numbers by what the *training* rows say (see `encoding`), so nothing of the test rows
is known beforehand. A column `split` with `train`/`test` is obeyed, otherwise a fifth of every class becomes
the test set; a column `trusted` with true/false marks the trusted rows. A column `id`, or another that
the user names, names the rows, for files of labels or of trusted samples, and is no feature.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reweigh.data.classes import class_names_of, encode
from reweigh.data.columns import Columns
from reweigh.data.encoding import Encoding
from reweigh.data.naming import id_column as names_rows
from reweigh.data.naming import no_features
from reweigh.data.readers.images import SUFFIXES, read_listing
from reweigh.data.readings import readings
from reweigh.data.roles import ROLES, parts_of
from reweigh.data.samples import Samples, Source, numbered
from reweigh.errors import DataError


def read(
    path: Path,
    label_column: str = "label",
    image_size: int | None = None,
    ignore: tuple[str, ...] = (),
    id_column: str | None = None,
) -> Source:
    """The source in a table, or the images that a table with a column `path` lists.

    Columns to `ignore` are no features, nor is the `id_column` (None: one called id).
    """
    columns = Columns.read(path)
    if label_column not in columns.names:
        raise DataError(
            f"{path} has no label column {label_column!r} (it has {', '.join(columns.names)}); "
            f"name it: --set data.label_column=NAME."
        )
    if unknown := [name for name in ignore if name not in columns.names]:
        raise DataError(
            f"{path} has no column {unknown[0]!r} to ignore (it has {', '.join(columns.names)})."
        )
    names_rows(columns, id_column)  # refused before images are read
    if _lists_images(columns):
        return read_listing(columns, label_column, path, image_size, id_column)
    return source_of(columns, label_column, ignore, id_column)


def source_of(
    columns: Columns,
    label_column: str = "label",
    ignore: tuple[str, ...] = (),
    id_column: str | None = None,
) -> Source:
    """Rows as samples; a fifth of every class is the test set, unless a column says otherwise."""
    texts = columns.labels(label_column)
    class_names = class_names_of(texts)
    labels = encode(texts, class_names, str(columns.origin))
    aside = {*no_features(columns, label_column, id_column), *ignore}
    features = [name for name in columns.names if name not in aside]
    if not features:
        others = f"the label, id and {', '.join(ROLES)}"
        raise DataError(f"{columns.origin} has no column besides {others}.")
    codes = np.stack([_codes(columns, name) for name in features], axis=1)
    key = names_rows(columns, id_column)
    raw = numbered(codes, labels, None if key is None else columns.texts(key))
    made = encoded(parts_of(columns, raw, class_names, "table", key), features, ignore)
    assert made.encoding is not None, "just learned"
    train = np.isin(raw.ids, made.train.ids)  # (n,)
    told = readings(columns, made.encoding, train, label_column, key)
    return replace(made, readings=told, remarks=columns.remarks(features))


def encoded(source: Source, features: list[str], ignored: tuple[str, ...] = ()) -> Source:
    """The same parts of a table, with these columns as numbers by what the training rows say."""
    assert source.table is not None, "its rows are samples"
    train = np.isin(np.arange(len(source.table)), source.train.ids)  # (n,)
    encoding = Encoding.learned(source.table, features, train, ignored)
    inputs = encoding(source.table)

    def part(samples: Samples) -> Samples:
        return replace(samples, inputs=inputs[samples.ids])

    return replace(
        source,
        train=part(source.train),
        test=part(source.test),
        trusted=source.trusted and part(source.trusted),
        encoding=encoding,
    )


def _lists_images(columns: Columns) -> bool:
    """Whether most of its paths end as images do: one that does not is then told."""
    if "path" not in columns.names:
        return False
    images = [Path(name).suffix.lower() in SUFFIXES for name in columns.texts("path").tolist()]
    return 2 * sum(images) > len(images)


def _codes(columns: Columns, name: str) -> NDArray[np.float64]:
    """One number per cell that is equal where the cells are: what copies are told by."""
    numbers = columns.numbers(name)
    if numbers is not None and not columns.beyond_floats(name):
        return numbers
    return columns.distinct(name)[1].astype(np.float64)
