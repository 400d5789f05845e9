"""Columns of a table as numbers: learned from the training rows, kept for rows that come later.

Numbers are standardised, texts become one-hot. A text that no training row has is all zeros. An empty
cell among numbers stands at their mean, and a column of its own says so where training rows have such.
A number that is the same in all training rows taught the student nothing, so it stays what it was there.
"""

from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from reweigh.data.columns import Columns, Kind
from reweigh.data.first_few import first_few
from reweigh.data.ignoring import ignoring
from reweigh.errors import DataError

_MOST_TEXTS = 100  # distinct texts a column may have; more is a key or prose, not a category
_SHOWN = 40  # characters of a text in a sentence


class Column(BaseModel):
    """One column: (x − mean) / scale, with [x is missing] if it has `gaps`, or one number a category.

    Of a `constant` one, 0 for x.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str
    mean: float = 0.0
    scale: float = 1.0
    gaps: bool = False
    constant: bool = False
    kind: Kind | None = None
    """What its numbers were written as; None in runs of before."""
    categories: tuple[str, ...] | None = None

    @classmethod
    def learned(cls, columns: Columns, name: str, train: NDArray[np.bool_]) -> Self | str:
        """From the rows where `train` is true; or why it cannot be."""
        numbers = columns.numbers(name)
        if numbers is None:
            all_texts, codes = columns.distinct(name)
            texts = [all_texts[c] for c in np.unique(codes[train])]
            if len(texts) > _MOST_TEXTS:
                return f"{len(texts):,} distinct texts, such as {texts[0][:_SHOWN]!r}"
            return cls(name=name, categories=tuple(texts))
        known = numbers[train & ~np.isnan(numbers)]
        if not len(known):
            return "empty in all training rows"
        found = cls(name=name, gaps=bool(np.isnan(numbers[train]).any()), kind=columns.kind(name))
        if known.min() == known.max():  # its mean and deviation would be rounding errors
            return found.model_copy(update={"mean": float(known[0]), "constant": True})
        moments = {"mean": float(known.mean()), "scale": float(known.std())}
        return found.model_copy(update=moments)

    def __call__(self, columns: Columns) -> NDArray[np.float32]:
        """(n, 1) or (n, 2) of numbers, (n, categories) of texts."""
        if self.name not in columns.names:
            raise DataError(
                f"{columns.origin} has no column {self.name!r}, which the student learned from (it has "
                f"{', '.join(columns.names)})."
            )
        if self.categories is not None:
            place, one_hot = self.category(columns), np.eye(len(self.categories), dtype=np.float32)
            return np.where((place >= 0)[:, None], one_hot[place], 0)
        numbers = self.numbers(columns)
        missing = np.isnan(numbers)
        values = np.where(missing | self.constant, 0.0, (numbers - self.mean) / self.scale)
        with np.errstate(over="ignore"):  # told in our own words
            small = values.astype(np.float32)
        self._refuse_infinite(small, columns)
        return np.stack([small, missing][: 1 + self.gaps], axis=1).astype(np.float32)

    def category(self, columns: Columns) -> NDArray[np.int64]:
        """Which of its categories each cell is, (n,); −1 for none."""
        known = {text: i for i, text in enumerate(self.categories or ())}
        texts, codes = columns.distinct(self.name)
        return np.array([known.get(text, -1) for text in texts])[codes]

    def numbers(self, columns: Columns) -> NDArray[np.float64]:
        """The column's numbers (n,), if they are written as in training."""
        numbers = columns.numbers(self.name)
        if numbers is None and columns.all_gaps(self.name):  # which by itself could be texts
            return np.full(len(columns), np.nan)
        if numbers is None:
            raise DataError(
                f"{columns.origin}: column {self.name!r} holds text where the student learned from "
                f"numbers."
            )
        kind = columns.kind(self.name)
        said = self.kind is not None and not np.isnan(numbers).all()
        if said and (kind == "date") != (self.kind == "date"):
            raise DataError(
                f"{columns.origin}: column {self.name!r} is read as {kind}, and the student learned from "
                f"it as {self.kind}: write it as in training (dates as 2023-03-17)."
            )
        return numbers

    def _refuse_infinite(self, values: NDArray[np.float32], columns: Columns) -> None:
        wrong = np.flatnonzero(np.isinf(values))
        if len(wrong):
            raise DataError(
                f"{columns.origin}: column {self.name!r} has {str(columns.values[self.name][wrong[0]])!r} in "
                f"data row {wrong[0] + 1}, too far from the training rows' mean of {self.mean:g} to "
                "compute with; correct the cell or drop the row."
            )


class Encoding(BaseModel):
    """All columns that the student sees, in their order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    columns: tuple[Column, ...]

    @classmethod
    def learned(
        cls,
        columns: Columns,
        names: list[str],
        train: NDArray[np.bool_],
        ignored: tuple[str, ...] = (),
    ) -> Self:
        """From the rows where `train` is true; of columns that cannot be, all are told at once."""
        found = {name: Column.learned(columns, name, train) for name in names}
        _refuse({name: why for name, why in found.items() if isinstance(why, str)}, ignored)
        return cls(columns=tuple(one for one in found.values() if isinstance(one, Column)))

    def __call__(self, columns: Columns) -> NDArray[np.float32]:
        """(n, d)"""
        return np.concatenate([column(columns) for column in self.columns], axis=1)

    def cautions(self, columns: Columns) -> list[str]:
        """Columns with what no training row has: the student knows nothing of it."""
        said = (_texts_unknown(column, columns) for column in self.columns if column.categories)
        numeric = [column for column in self.columns if not column.categories]
        gaps = (_gaps_unknown(column, columns) for column in numeric)
        others = (_others_unknown(column, columns) for column in numeric if column.constant)
        return [words for words in (*said, *gaps, *others) if words is not None]

    @property
    def features(self) -> list[str]:
        """The columns' names."""
        return [column.name for column in self.columns]

    @property
    def names(self) -> str:
        """The columns' names, to be told."""
        return ", ".join(self.features)


def _texts_unknown(column: Column, columns: Columns) -> str | None:
    new = column.category(columns) < 0  # (n,)
    if not new.any():
        return None
    example = str(columns.values[column.name][new][0]).strip()
    return (
        f"column {column.name!r}: {new.sum()} of {len(new)} rows have a text that no training row "
        f"has, such as {example[:_SHOWN]!r}"
    )


def _gaps_unknown(column: Column, columns: Columns) -> str | None:
    numbers = column.numbers(columns)
    if column.gaps or not np.isnan(numbers).any():
        return None
    return (
        f"column {column.name!r}: {np.isnan(numbers).sum()} of {len(numbers)} rows are empty, which no "
        "training row is; they are taken for the mean"
    )


def _others_unknown(column: Column, columns: Columns) -> str | None:
    numbers = column.numbers(columns)
    other = ~np.isnan(numbers) & (numbers != column.mean)  # (n,)
    if not other.any():
        return None
    return (
        f"column {column.name!r}: {other.sum()} of {len(numbers)} rows differ from what it is in all "
        "training rows; the student knows nothing of that, and the column is not looked at"
    )


def _refuse(unfit: dict[str, str], ignored: tuple[str, ...]) -> None:
    """The flag is whole: it leaves out what is left out already, too."""
    if unfit:
        told = first_few([f"{name!r} ({why})" for name, why in unfit.items()], "columns")
        it = "it" if len(unfit) == 1 else "them"
        raise DataError(
            f"No feature can be made of {told}; it needs numbers, or at most {_MOST_TEXTS} distinct "
            f"texts: leave {it} out ({ignoring([*ignored, *unfit])}), name the rows by one (data.id_column), "
            "or write numbers as 1234.5 and dates as 2023-03-17."
        )
