"""Training labels from a separate file, so that anybody's noisy labels drop in.

    labels.txt   one label a line            labels.npy   one number (or name) a sample
    labels.csv   one column, or id,label     where id is a sample's number or its name

A label is a class name or a class number. Without ids the file has one label for every sample the
training ids count (for a table that we split, every row of the table). With ids it may name only
some samples; the others keep theirs.
"""

from pathlib import Path

import numpy as np
from numpy.lib.format import read_array
from numpy.typing import NDArray

from reweigh.data.classes import encode
from reweigh.data.columns import Columns, repeated
from reweigh.data.dialect import encoding_of
from reweigh.data.samples import Indices, Labels, Samples
from reweigh.data.table_file import plain
from reweigh.errors import DataError, UsageError

ID_COLUMNS = ("id", "path", "name")
"""How a column may be called that names samples."""


def read_labels(
    path: Path, train: Samples, class_names: tuple[str, ...], counted: Samples
) -> Labels:
    """The labels of `train` after those of the file took the place of its own.

    `counted` are all samples that the training ids count (`Source.counted`): a file may name those
    that were held out, too.
    """
    ids, texts = _read(path, counted)
    numbers = encode(texts, class_names, str(path))
    if ids is not None:
        return _replace(train, ids, numbers)
    if len(numbers) != len(counted):
        raise DataError(
            f"{path} has {len(numbers)} labels but the data has {len(counted)} samples to label; give "
            f"one a sample, or a CSV with the columns id,label."
        )
    return numbers[train.ids]


def read_ids(
    path: Path, counted: Samples, label_columns: tuple[str, ...] = ()
) -> tuple[Indices, NDArray[np.str_] | None]:
    """Training ids in a file, with labels where it has one of `label_columns`.

    Where labels are asked for, a column that is neither is refused: it might hold them.
    """
    if path.suffix.lower() != ".csv":
        return _ids(_plain_texts(path), counted, path), None
    columns = Columns.read(path)
    who = _id_column(columns)
    if who is None:
        raise DataError(
            f"{path} has no column 'id' (it has {', '.join(columns.names)}); name the samples "
            f"there, by number or by name."
        )
    what = next((name for name in label_columns if name in columns.names), None)
    strange = [name for name in columns.names if name not in (who, what)]
    if label_columns and what is None and strange:
        raise DataError(
            f"{path} has a column {strange[0]!r}; if it holds corrected labels, call it "
            f"{label_columns[0]!r}, else leave it out."
        )
    texts = _plain(columns.labels(what)) if what is not None else None
    return _ids(_plain(columns.texts(who)), counted, path), texts


def _read(path: Path, counted: Samples) -> tuple[Indices | None, NDArray[np.str_]]:
    if path.suffix.lower() != ".csv":
        return None, _plain_texts(path)
    columns = Columns.read(path)
    if len(columns.names) == 1:
        return None, _plain(columns.labels(columns.names[0]))
    who = _id_column(columns)
    if who is None or "label" not in columns.names:
        raise DataError(
            f"{path} has the columns {', '.join(columns.names)}; expected id,label or one column."
        )
    return _ids(_plain(columns.texts(who)), counted, path), _plain(columns.labels("label"))


def _id_column(columns: Columns) -> str | None:
    return next((name for name in ID_COLUMNS if name in columns.names), None)


def _plain(texts: NDArray[np.str_]) -> NDArray[np.str_]:
    """As they were before a table of ours made them harmless for spreadsheets."""
    return np.asarray([plain(text) for text in texts.tolist()], dtype=np.str_)


def _plain_texts(path: Path) -> NDArray[np.str_]:
    """One text a sample, from `.txt` or `.npy`."""
    try:
        if path.suffix.lower() == ".npy":
            with path.open("rb") as file:
                return read_array(file, allow_pickle=False).reshape(-1).astype(np.str_)
        if path.suffix.lower() == ".txt":
            lines = path.read_text(encoding=encoding_of(path)).rstrip().split("\n")
            if lines == [""]:
                raise DataError(f"{path} is empty; expected one line a sample.")
            return np.char.strip(np.asarray(lines))
    except (OSError, ValueError, EOFError) as problem:
        raise DataError(f"{path} cannot be read ({problem}).") from None
    raise UsageError(f"{path} ends in {path.suffix!r}; expected .txt, .npy or .csv.")


def _ids(texts: NDArray[np.str_], counted: Samples, path: Path) -> Indices:
    """Ids written as the names of samples or, where none of them is a name, as numbers.

    Never as both: where the names are numbers themselves, one wrong name would make numbers of all.
    """
    if (twice := repeated(texts)) is not None:
        raise DataError(f"{path} names {twice!r} twice; once is enough.")
    names = np.empty(0, np.str_) if counted.names is None else counted.names
    named = np.isin(texts, names)  # (m,)
    if named.any():
        a_name = f"although {str(texts[named][0])!r} is; use names throughout"
        _refuse(texts[~named], f"is not the name of a sample, {a_name}", path)
        order = np.argsort(names, kind="stable")
        return counted.ids[order[np.searchsorted(names, texts, sorter=order)]]
    numbers = np.asarray([int(text) if text.isdecimal() else -1 for text in texts.tolist()])
    example = f" such as {str(names[0])!r}" if len(names) else ""
    known = f"neither a sample's number ({counted.ids.min()} … {counted.ids.max()})"
    wrong = ~np.isin(numbers, counted.ids)  # (m,)
    _refuse(texts[wrong], f"is {known} nor a sample's name{example}", path)
    return numbers.astype(np.int64)


def _refuse(wrong: NDArray[np.str_], why: str, path: Path) -> None:
    if len(wrong):
        more = f" ({len(wrong)} such ids)" if len(wrong) > 1 else ""
        raise DataError(f"{path}: id {str(wrong[0])!r} {why}{more}.")


def _replace(train: Samples, ids: Indices, numbers: Labels) -> Labels:
    """Labels of samples that are not in `train` (trusted ones, say) have nowhere to go."""
    labels, order = train.labels.copy(), np.argsort(train.ids)
    place = np.searchsorted(train.ids, ids, sorter=order).clip(max=len(train) - 1)
    known = train.ids[order[place]] == ids
    labels[order[place[known]]] = numbers[known]
    return labels
