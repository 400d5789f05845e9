"""Files that name samples: `.txt` or `.npy` with one id a sample, or a `.csv` with a column of ids.

An id is a sample's name or its number, counted from 0. In a `.csv` the column is called as the one
that names the rows of the data, or `id`, `path` or `name`. An empty column `name` beside `id` says that
samples have no names and ids are numbers: so our audits write them.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib.format import read_array
from numpy.typing import NDArray

from reweigh.data.columns import Columns, repeated
from reweigh.data.dialect import encoding_of
from reweigh.data.naming import rows_by, spelled, way_to_name
from reweigh.data.samples import Indices, Samples, Source
from reweigh.data.table_file import plain
from reweigh.errors import DataError, UsageError

_ID_COLUMNS = ("id", "path", "name")


@dataclass(frozen=True)
class Listed:
    """What a file says of the samples that it names: read once, whoever asks for it."""

    file: Path
    ids: Indices  # (m,)
    labels: NDArray[np.str_] | None = None  # (m,)
    """None where the file has none, or nobody asked for them."""
    remarks: tuple[str, ...] = ()
    """How the file was written, where that is worth a word."""


def read_ids(path: Path, source: Source, label_columns: tuple[str, ...] = ()) -> Listed:
    """The training ids in a file, with labels where it has one of `label_columns`.

    Where labels are asked for, a column that is neither is refused: it might hold them.
    Samples of which the label is empty were not looked at, and are not named.
    """
    if path.suffix.lower() != ".csv":
        return Listed(path, _ids(one_a_sample(path), source, path))
    columns = Columns.read(path)
    what = next((name for name in label_columns if name in columns.names), None)
    if what is not None:
        return Listed(path, *labelled(columns, what, source), columns.remarks())
    ids = ids_in(columns, source)
    others = [name for name in columns.names if name != _id_column(columns, source)]
    strange = [name for name in others if (columns.texts(name) != "").any()]
    if label_columns and strange:
        raise DataError(
            f"{path} has a column {strange[0]!r}; if it holds corrected labels, call it "
            f"{label_columns[0]!r}, else leave it out."
        )
    return Listed(path, ids, remarks=columns.remarks())


def labelled(
    columns: Columns, label_column: str, source: Source
) -> tuple[Indices, NDArray[np.str_]]:
    """The training ids that have a label in a table, and these labels."""
    ids, texts = ids_in(columns, source), columns.texts(label_column)
    filled = texts != ""  # (m,)
    if not filled.any():
        raise DataError(
            f"{columns.origin} has no label in its column {label_column!r}; fill in those of the samples "
            "that were looked at."
        )
    return ids[filled], as_written(texts[filled])


def ids_in(columns: Columns, source: Source) -> Indices:
    """The training ids that a table names in its column of ids."""
    who = _id_column(columns, source)
    if who is None:
        raise DataError(
            f"{columns.origin} has no column 'id' (it has {', '.join(columns.names)}); name the samples "
            f"there, by number or by name{_same_column(columns, source)}."
        )
    texts = as_written(columns.texts(who))
    if who == "id" and "name" in columns.names and (columns.texts("name") == "").all():
        return _numbers(_once(texts, columns.origin), source, columns.origin)
    return _ids(texts, source, columns.origin)


def as_written(texts: NDArray[np.str_]) -> NDArray[np.str_]:
    """As they were before a table of ours made them harmless for spreadsheets."""
    return np.asarray([plain(text) for text in texts.tolist()], dtype=np.str_)


def one_a_sample(path: Path) -> NDArray[np.str_]:
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


def _id_column(columns: Columns, source: Source) -> str | None:
    """What names the samples; in a copy of an audit `id` does, whatever its other columns are called."""
    of_audit = ("id",) if {"id", "given_label"} <= set(columns.names) else ()
    known = filter(None, (*of_audit, source.id_column, *_ID_COLUMNS))
    found = (spelled(name, columns.names) for name in known)
    return next(filter(None, found), None)


def _same_column(columns: Columns, source: Source) -> str:
    """The way out where the file names rows by a column that the data has, too."""
    same = [spelled(name, source.table.names if source.table else ()) for name in columns.names]
    for name, key in zip(columns.names, same, strict=True):
        if key is not None and _key(columns.texts(name), source, [key]):
            return f"; if {key!r} names the rows of the data, say so: {way_to_name(key)}"
    return ""


def _ids(texts: NDArray[np.str_], source: Source, path: Path) -> Indices:
    """Ids written as the names of samples or, where none of them is a name, as numbers.

    Never as both: where the names are numbers themselves, one wrong name would make numbers of all.
    """
    counted = source.counted
    names = np.empty(0, np.str_) if counted.names is None else counted.names
    named = np.isin(_once(texts, path), names)  # (m,)
    if named.any():
        a_name = f"although {str(texts[named][0])!r} is; use names throughout"
        _refuse(texts[~named], f"is not the name of a sample, {a_name}", path)
        order = np.argsort(names, kind="stable")
        return counted.ids[order[np.searchsorted(names, texts, sorter=order)]]
    _refuse_another_key(texts, source, path)
    return _numbers(texts, source, path)


def _refuse_another_key(texts: NDArray[np.str_], source: Source, path: Path) -> None:
    """Customers' numbers, say, are no rows' numbers: taken for such, every label would be another row's."""
    if source.table is None:
        return
    if key := _key(texts, source, [n for n in source.table.names if n != source.id_column]):
        numbers = "; if they are numbers of rows, counted from 0, add an empty column 'name'"
        raise DataError(
            f"{path}: its ids stand in the column {key!r} of the data; if that names the rows, say so: "
            f"{way_to_name(key)}{numbers if np.char.isdecimal(texts).all() else ''}."
        )


def _key(texts: NDArray[np.str_], source: Source, names: list[str]) -> str | None:
    """The first of these columns of the data by which all `texts` name rows, others than as numbers."""
    for name in names:
        rows = rows_by(name, texts, source.table) if source.table is not None else None
        if rows is not None and (rows.astype(np.str_) != texts).any():
            return name
    return None


def _numbers(texts: NDArray[np.str_], source: Source, path: Path) -> Indices:
    ids = source.counted.ids
    numbers = np.asarray([int(text) if text.isdecimal() else -1 for text in texts.tolist()])
    known = f"neither a sample's number ({ids.min()} … {ids.max()}) nor a sample's name"
    _refuse(texts[~np.isin(numbers, ids)], f"is {known}{_what_names(source.counted, source)}", path)
    return numbers.astype(np.int64)


def _what_names(counted: Samples, source: Source) -> str:
    if counted.names is not None:
        return f" such as {str(counted.names[0])!r}"
    if source.table is None:
        return ""
    return ", which the data has none of: call the column that names its rows id, or name it: data.id_column"


def _once(texts: NDArray[np.str_], path: Path) -> NDArray[np.str_]:
    if (twice := repeated(texts)) is not None:
        raise DataError(f"{path} names {twice!r} twice; once is enough.")
    return texts


def _refuse(wrong: NDArray[np.str_], why: str, path: Path) -> None:
    if len(wrong):
        more = f" ({len(wrong)} such ids)" if len(wrong) > 1 else ""
        raise DataError(f"{path}: id {str(wrong[0])!r} {why}{more}.")
