"""The vocabulary of the package: names for the tensors that travel between its parts."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

Batch = Any
"""What one step learns from: a tensor, or a tuple, list, dict or dataclass of tensors."""

Params = dict[str, Tensor]
"""Tensors by the student's parameter name (θ, a gradient, a direction, a moment)."""

Losses = Tensor
"""(n,) one loss per sample, not reduced."""

Weights = Tensor
"""(n,) one weight per sample, non-negative."""

FindLabels = Callable[[Batch], Tensor | None]
"""Where the labels of a batch are, (n,); None where there are none."""

PerSampleLoss = Callable[[nn.Module, Batch], Losses]
"""The one function a user gives: student and batch in, one loss per sample out."""

TrainingLoss = Callable[..., Losses]
"""What the student learns from: such a function, or that of a teacher who looks through the student's
average, whose third argument is what stands at the taps there."""
