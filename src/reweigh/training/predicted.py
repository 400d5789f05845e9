"""Predictions as a table: what the sample is called, its class, how sure the student is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from reweigh.data.readers.unlabelled import Unlabelled
from reweigh.training.predictor import Predictor


@dataclass(frozen=True)
class Predicted:
    """The answers of one student to new samples."""

    names: NDArray[np.str_]  # (n,)
    class_names: NDArray[np.str_]  # (K,)
    probabilities: NDArray[np.float32]  # (n, K)
    each_class: bool
    """With a column for each class."""

    @classmethod
    def of(cls, predictor: Predictor, samples: Unlabelled, *, each_class: bool) -> Self:
        """What the student says to these samples."""
        classes = np.asarray(predictor.class_names)
        return cls(samples.names, classes, predictor.probabilities(samples), each_class)

    def __len__(self) -> int:
        return len(self.names)

    def columns(self, part: slice) -> dict[str, NDArray[Any]]:
        """The columns of some rows, by name and in order."""
        p = self.probabilities[part]
        names = column_names(self.class_names.tolist(), each_class=self.each_class)
        values = [self.names[part], self.class_names[p.argmax(1)], p.max(1, initial=0)]
        return dict(zip(names, [*values, *(p.T if self.each_class else ())], strict=True))


def column_names(class_names: Sequence[str], *, each_class: bool) -> tuple[str, ...]:
    """Of the table, which can be told before anything is predicted."""
    each = [f"p({name})" for name in class_names] if each_class else []
    return ("id", "predicted_label", "confidence", *each)
