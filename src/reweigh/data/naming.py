"""Which column names the rows of a table, and which others could."""

from collections.abc import Iterable
from shlex import quote

import numpy as np
from numpy.typing import NDArray

from reweigh.data.columns import Columns
from reweigh.data.repeats import repeats
from reweigh.data.roles import ROLES
from reweigh.errors import DataError

ID = "id"


def spelled(wanted: str, names: Iterable[str]) -> str | None:
    """The one of `names` that is `wanted`, if need be in other case: id, ID and Id are one."""
    alike = [name for name in names if name.lower() == wanted.lower()]
    return wanted if wanted in alike else next(iter(alike), None)


def id_column(columns: Columns, named: str | None) -> str | None:
    """The column that names the rows: the one that is `named`, else one called id."""
    if named is not None and named not in columns.names:
        raise DataError(
            f"{columns.origin} has no column {named!r} to name its rows (it has "
            f"{', '.join(columns.names)}); correct data.id_column."
        )
    return named or spelled(ID, columns.names)


def no_features(columns: Columns, label_column: str, named: str | None) -> set[str]:
    """The label, what names the rows, a column called id, and the roles."""
    ids = {id_column(columns, named), spelled(ID, columns.names)} - {None}
    return {label_column, *filter(None, ids), *ROLES}


def rows_by(key: str, texts: NDArray[np.str_], columns: Columns) -> NDArray[np.int64] | None:
    """The rows (m,) that `texts` name in the column `key`; None unless all do and it tells rows apart."""
    cells = columns.values[key]
    if cells.dtype.kind == "O":  # prose: one width for all its cells would take much memory
        return None
    cells = cells.astype(np.str_)
    if not len(texts) or texts[0] not in cells:
        return None
    if not np.isin(texts, cells).all() or repeats(columns, key)[1].any():
        return None
    order = np.argsort(cells, kind="stable")
    return order[np.searchsorted(cells, texts, sorter=order)]


def way_to_name(column: str) -> str:
    """How a user says that this column names the rows."""
    return f"--set {quote(f'data.id_column={column}')}"
