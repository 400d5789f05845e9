"""A teacher that learned with one student weighs for another, frozen (the paper's appendix B).

Its parameters are taken as they are; statistics of a student, such as class means, are not
parameters and start again. Where the new data have other classes, a linear teacher whose last feature is
the label keeps what it knows of the first ones; labels that it never saw keep the embedding that
it started with, zero (our choice, the paper does not say).
"""

from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from reweigh.errors import DataError, UsageError
from reweigh.run_files import TEACHER, kept_samples
from reweigh.teachers.base import Teacher


def take_over(teacher: Teacher, run: Path, classes: int | None = None) -> None:
    """Give `teacher` the parameters that the run's teacher has learned, and freeze it.

    `classes` is the number of classes now, for a teacher whose last features are the label's.
    """
    learned = _read(run / TEACHER)
    more = 0 if classes is None else classes - _classes(run)
    with torch.no_grad():
        for name, parameter in teacher.named_parameters():
            parameter.copy_(_fitted(learned.get(name), parameter, more, name, run))
    teacher.requires_grad_(False)


def _fitted(learned: Tensor | None, wanted: Tensor, more: int, name: str, run: Path) -> Tensor:
    """The tensor as it is, or with `more` columns of zeros, or that many less."""
    if learned is not None and learned.shape == wanted.shape:
        return learned
    if learned is not None and learned.dim() == wanted.dim() == 2:
        wider = learned.shape[1] + more == wanted.shape[1]
        if more and wider and learned.shape[0] == wanted.shape[0]:
            return torch.nn.functional.pad(learned, (0, more))
    has = "no such parameter" if learned is None else f"one of shape {tuple(learned.shape)}"
    raise UsageError(
        f"the teacher of {run} does not fit: here {name} has shape {tuple(wanted.shape)}, there is "
        f"{has}; take a run with the same method.teacher, features and width of the student, or "
        "teacher = 'margin', which fits any"
    )


def _read(file: Path) -> dict[str, Tensor]:
    if not file.is_file():
        raise UsageError(
            f"{file.parent} has no {TEACHER}: method.teacher_from names the folder of a finished run "
            "whose method has a teacher"
        )
    try:
        return load_file(file)
    except (SafetensorError, OSError) as error:
        raise DataError(f"cannot read the teacher {file}: {error}") from None


def _classes(run: Path) -> int:
    return len(kept_samples(run, "class_names")["class_names"])
