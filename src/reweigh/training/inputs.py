"""What a trained student takes and answers: `inputs.json` of its run, all that prediction needs.

Statistics of the training images, the encoding of a table's columns, the classes: so a run's
folder predicts without the data it learned from.
"""

import json
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from reweigh.data.encoding import Encoding
from reweigh.data.samples import Kind, Problem
from reweigh.errors import CheckpointError, DataError
from reweigh.replacing import write_atomically
from reweigh.training.images import Images, Normalisation
from reweigh.training.rows import Rows
from reweigh.training.run_records import read_record

FILE = "inputs.json"


class Inputs(BaseModel):
    """The kind and shape of one sample, how it becomes numbers, and the names of the classes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    shape: tuple[int, ...]
    """(height, width, channels) of an image, (d,) of a row."""
    class_names: tuple[str, ...]
    normalisation: Normalisation | None = None
    encoding: Encoding | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        n = self.normalisation
        if (self.kind == "image") != (n is not None) or len(self.shape) != (3 if n else 1):
            raise ValueError(f"kind {self.kind!r} and shape {self.shape} do not go together")
        if n is not None and not len(n.mean) == len(n.std) == self.shape[-1]:
            raise ValueError(f"normalisation is not of {self.shape[-1]} channels")
        return self

    @classmethod
    def of(cls, problem: Problem) -> Self:
        """As the samples of this problem are."""
        train = problem.train.inputs
        return cls(
            kind=problem.kind,
            shape=train.shape[1:],
            class_names=problem.class_names,
            normalisation=Normalisation.of(train) if problem.kind == "image" else None,
            encoding=problem.encoding,
        )

    def save(self, folder: Path) -> None:
        """Into a run's folder."""
        write_atomically(folder / FILE, self.model_dump_json(indent=2) + "\n")

    @classmethod
    def load(cls, folder: Path) -> Self:
        """From a run's folder."""
        if not (folder / FILE).is_file():
            raise CheckpointError(
                f"{folder / FILE} is missing; train the run again to predict with it."
            )
        record = json.dumps(read_record(folder / FILE))
        try:
            return cls.model_validate_json(record)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise CheckpointError(
                f"{folder / FILE} does not describe a student's inputs ({where}: {first['msg']}); was it "
                f"changed?"
            ) from None

    def placed(
        self, inputs: NDArray[Any], *, device: torch.device, channels_last: bool = False
    ) -> Images | Rows:
        """Raw samples on a device, giving the batches that the student was trained on."""
        if inputs.shape[1:] != self.shape or len(inputs) == 0:
            raise DataError(
                f"The student takes samples of shape {self.shape}, got {len(inputs)} of shape "
                f"{inputs.shape[1:]}."
            )
        if self.normalisation is None:
            return Rows(_finite(inputs), device=device)
        return Images(
            inputs, self.normalisation, augment="none", device=device, channels_last=channels_last
        )


def _finite(rows: NDArray[Any]) -> NDArray[Any]:
    wrong = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(wrong):
        raise DataError(
            f"Row {wrong[0] + 1} holds a value that is not finite ({len(wrong)} such rows)."
        )
    return rows
