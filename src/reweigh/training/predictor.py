"""A finished run as something that predicts.

predictor = reweigh.Predictor("runs/photos")
p = predictor.probabilities("new_photos/")      # or an array: uint8 images, or rows of a table
predictor.class_names[p[0].argmax()]
predictor.student                               # the trained nn.Module
"""

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from reweigh.config import RunConfig, TrainingConfig
from reweigh.data.readers.image_files import refuse_unfit
from reweigh.data.readers.unlabelled import Reader, Unlabelled
from reweigh.errors import UsageError
from reweigh.run_files import student_file
from reweigh.training.environment import device_after
from reweigh.training.evaluate import probabilities
from reweigh.training.inputs import Inputs
from reweigh.training.pool import Pool
from reweigh.training.run import settings_of
from reweigh.training.start import load_student
from reweigh.training.tasks.classification import build_classifier, forward_under

Samples: TypeAlias = Unlabelled | Path | str | Tensor | ArrayLike


class Predictor:
    """The student of the run in `folder`; the data it learned from are not needed.

    Args:
        folder: of a finished run that classifies.
        last: the student of the last epoch, not the one best by the trusted set.
        device: where to compute; the run's own choice by default.
    """

    def __init__(
        self, folder: Path | str, *, last: bool = False, device: str | None = None
    ) -> None:
        folder = Path(folder)
        config = settings_of(folder)
        if not isinstance(config, RunConfig):
            raise UsageError(f"{folder} is a translation run; use reweigh translate {folder}.")
        self.config = config
        self.inputs = Inputs.load(folder)
        self.device = device_after(config.device, device)
        self.student = build_classifier(config, self.inputs).to(self.device)
        load_student(self.student, student_file(folder, last=last))
        self.student.eval()
        size, key = config.data.image_size, config.data.id_column
        inputs = self.inputs
        self._reader = Reader(inputs.kind, inputs.shape, size, inputs.encoding, key)

    @property
    def class_names(self) -> tuple[str, ...]:
        """What the columns of `probabilities` mean."""
        return self.inputs.class_names

    def read(self, path: Path | str) -> Unlabelled:
        """The samples in a folder of images, an image, a table or an `.npz` file, with names.

        Images that are broken or of another size are told in `unfit` and are no samples.
        """
        return self._reader(Path(path))

    def probabilities(self, samples: Samples) -> NDArray[np.float32]:
        """p(k | x) of every sample, (n, K).

        `samples` are what `read` gave, a path to read, or an array or tensor: uint8 images
        (n, h, w[, c]) or, if the student learned from arrays, rows (n, d).
        """
        if isinstance(samples, str | Path):
            samples = self.read(samples)
            refuse_unfit(samples.unfit)  # nothing would tell whose row is missing
        if not isinstance(samples, Unlabelled):
            raw = samples.detach().cpu() if isinstance(samples, Tensor) else samples
            return self._answers(self._reader.array(np.asarray(raw), "the array"))
        return self._answers(samples.inputs)

    def _answers(self, raw: NDArray[Any]) -> NDArray[np.float32]:
        return answers(self.student, raw, self.inputs, self.config.training, self.device)


def answers(
    student: nn.Module, raw: NDArray[Any], inputs: Inputs, t: TrainingConfig, device: torch.device
) -> NDArray[np.float32]:
    """p(k | x) of raw samples, (n, K), by a student that was trained on such."""
    x = inputs.placed(raw, device=device, channels_last=t.channels_last)
    unknown = torch.zeros(len(x), dtype=torch.int64, device=device)
    return probabilities(student, Pool(x, unknown), forward_under(t.bf16, device)).cpu().numpy()
