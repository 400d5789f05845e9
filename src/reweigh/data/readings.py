"""How each column of a table is read: what there is to see before anything is trained."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from reweigh.data.columns import Columns, Kind
from reweigh.data.encoding import Column, Encoding

Use = Literal["label", "split", "trusted", "id", "ignored", "constant", "categories"] | Kind
_SHOWN = 4


@dataclass(frozen=True)
class Reading:
    """Of one column."""

    name: str
    read_as: Use
    empty: int = 0
    """Rows without a number or a date."""
    categories: tuple[str, ...] = ()
    key: bool = False
    """Whether every row has another whole number."""

    def __str__(self) -> str:
        if self.read_as == "categories":
            some = ", ".join(map(repr, self.categories[:_SHOWN]))
            more = " …" if len(self.categories) > _SHOWN else ""
            return f"{len(self.categories)} categories: {some}{more}"
        return self.read_as + (f" ({self.empty:,} empty)" if self.empty else "")


def readings(
    columns: Columns,
    encoding: Encoding,
    train: NDArray[np.bool_],
    label_column: str,
    id_column: str | None,
) -> tuple[Reading, ...]:
    """Of all columns, in the file's order; features are constant if they are so in the `train` rows."""
    features = {column.name: column for column in encoding.columns}
    apart: dict[str | None, Use] = {
        label_column: "label",
        id_column: "id",
        "split": "split",
        "trusted": "trusted",
    }
    return tuple(
        _of_feature(columns, features[name], train)
        if name in features
        else Reading(name, apart.get(name, "ignored"))
        for name in columns.names
    )


def _of_feature(columns: Columns, column: Column, train: NDArray[np.bool_]) -> Reading:
    numbers = columns.numbers(column.name)
    if numbers is None:
        categories = column.categories or ()
        return Reading(
            column.name, "categories" if len(categories) > 1 else "constant", categories=categories
        )
    missing = np.isnan(numbers)
    empty, seen = int(missing.sum()), numbers[train & ~missing]
    if not empty and (seen == column.mean).all():
        return Reading(column.name, "constant")
    kind = columns.kind(column.name)
    return Reading(column.name, kind, empty, key=kind == "number" and _is_key(columns, column.name))


def _is_key(columns: Columns, name: str) -> bool:
    """Whether every row has a whole number of its own; the costly question last."""
    numbers, n = columns.numbers(name), len(columns)
    if numbers is None or not (numbers == np.floor(numbers)).all():
        return False
    if columns.beyond_floats(name):
        return len(np.unique(columns.texts(name))) == n
    return bool(np.ptp(numbers) >= n - 1) and len(np.unique(numbers)) == n
