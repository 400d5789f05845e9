"""Columns of a table as numbers: learned from the training rows, kept for rows that come later.

Numbers are standardised, texts become one-hot. A text that no training row has is all zeros.
"""

from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from reweigh.errors import DataError

if TYPE_CHECKING:
    from reweigh.data.columns import Columns

_MOST_TEXTS = 100  # distinct texts a column may have; more is a key or prose, not a category


class Column(BaseModel):
    """One column: (x − mean) / scale, or one number for each of its categories."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str
    mean: float = 0.0
    scale: float = 1.0
    categories: tuple[str, ...] | None = None

    @classmethod
    def learned(cls, columns: "Columns", name: str, train: NDArray[np.bool_]) -> Self:
        """From the rows where `train` is true."""
        numbers = columns.numbers(name)
        if numbers is None:
            return cls(name=name, categories=_categories(columns.texts(name)[train], name))
        mean, deviation = float(numbers[train].mean()), float(numbers[train].std())
        return cls(name=name, mean=mean, scale=deviation or 1.0)  # a constant one becomes zeros

    def __call__(self, columns: "Columns") -> NDArray[np.float32]:
        """(n, 1) of numbers, (n, categories) of texts."""
        if self.name not in columns.names:
            raise DataError(
                f"{columns.origin} has no column {self.name!r}, which the student learned from (it has "
                f"{', '.join(columns.names)})."
            )
        if self.categories is not None:
            texts = columns.texts(self.name)[:, None]
            return (texts == np.asarray(self.categories)[None, :]).astype(np.float32)
        numbers = columns.numbers(self.name)
        if numbers is None:
            raise DataError(
                f"{columns.origin}: column {self.name!r} holds text where the student learned from "
                f"numbers."
            )
        return ((numbers - self.mean) / self.scale).astype(np.float32)[:, None]


class Encoding(BaseModel):
    """All columns that the student sees, in their order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    columns: tuple[Column, ...]

    @classmethod
    def learned(cls, columns: "Columns", names: list[str], train: NDArray[np.bool_]) -> Self:
        """From the rows where `train` is true."""
        return cls(columns=tuple(Column.learned(columns, name, train) for name in names))

    def __call__(self, columns: "Columns") -> NDArray[np.float32]:
        """(n, d)"""
        return np.concatenate([column(columns) for column in self.columns], axis=1)

    def cautions(self, columns: "Columns") -> list[str]:
        """Columns with texts that no training row has: the student knows nothing of them."""
        said = []
        for column in self.columns:
            if column.categories is None:
                continue
            texts = columns.texts(column.name)
            new = ~np.isin(texts, column.categories)  # (n,)
            if new.any():
                said.append(
                    f"column {column.name!r}: {new.sum()} of {len(texts)} rows have a text that no "
                    f"training row has, such as {str(texts[new][0])!r}"
                )
        return said

    @property
    def names(self) -> str:
        """The columns' names, to be told."""
        return ", ".join(column.name for column in self.columns)


def _categories(texts: NDArray[np.str_], name: str) -> tuple[str, ...]:
    categories = np.unique(texts)
    if len(categories) > _MOST_TEXTS:
        raise DataError(
            f"Column {name!r} has {len(categories)} distinct texts, at most {_MOST_TEXTS} can be "
            f"categories; drop the column or encode it as numbers."
        )
    return tuple(categories.tolist())
