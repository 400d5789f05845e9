"""Evaluation mode for a while: dropout off, running statistics in place of the batch's."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def evaluating(student: nn.Module) -> Iterator[None]:
    """Inside, every module is in evaluation mode; afterwards each in the mode that it was in."""
    modes = {module: module.training for module in student.modules()}
    student.eval()
    try:
        yield
    finally:
        for module, training in modes.items():
            module.training = training
