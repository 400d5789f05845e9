r"""Teachers whose student learns from corrected losses, $-\log \sum_y T_{y\tilde y}\, p_y$.

What the loop's own loss is left for are trusted samples: those that M is measured on, and those of
the stream, whose labels are sure.
"""

from collections.abc import Callable

from torch import Tensor, nn

from reweigh.errors import UsageError
from reweigh.student.batch import (
    LABEL_NAMES,
    as_numbers,
    check_classes,
    check_num_classes,
    find_labels,
    find_trusted,
    outputs,
)
from reweigh.teachers.base import Teacher
from reweigh.teachers.noise_matrix import NoiseMatrix
from reweigh.typing import Batch, FindLabels, Losses, PerSampleLoss, TrainingLoss


class CorrectingTeacher(Teacher):
    """Has a noise matrix T; who weighs by what is left to its kinds.

    `logits(student, batch)` gives logits for batches that are not (x, y). With `trusted_in_stream`
    batches hold trusted samples as well and say which they are: (x, y, trusted), the third a bool
    tensor, or a member of that name. Without it all labels are in doubt.
    """

    def __init__(
        self,
        num_classes: int,
        logits: Callable[[nn.Module, Batch], Tensor] = outputs,
        trusted_in_stream: bool = False,
    ) -> None:
        super().__init__()
        self.matrix = NoiseMatrix(check_num_classes(num_classes), alone=not trusted_in_stream)
        self.logits, self.trusted_in_stream = logits, trusted_in_stream
        self._labels: FindLabels = find_labels

    def loss(self, own: PerSampleLoss, labels: FindLabels) -> TrainingLoss:
        """The corrected loss, whatever the loop's own: that one is for trusted samples."""
        self._labels = labels
        return self.corrected

    def answers(self, student: nn.Module, batch: Batch) -> Tensor:
        """Its logits, (n, C)."""
        return self.logits(student, batch)

    def meet(self, labels: Tensor | None) -> None:
        """Start the noise matrix; where trusted samples hold it, it does not depend on labels."""
        if labels is not None:
            self.matrix.begin(check_classes(labels, len(self.matrix.table)))

    def corrected(self, student: nn.Module, batch: Batch, by: Tensor | None = None) -> Losses:
        """−log Σ_y T_yỹ p_y, (n,), or its bound `by` other logits; −log p_ỹ for trusted samples of
        the stream."""
        y = self._labels(batch)
        if y is None:
            raise UsageError(
                f"{type(self).__name__} cannot tell which part of the batch the labels are: give "
                f"(x, y), call it one of {', '.join(LABEL_NAMES)}, or give Reweigher labels=f, "
                "where f(batch) returns them"
            )
        sure = self.sure(find_trusted(batch), len(y))
        return self.matrix.losses(self.answers(student, batch), as_numbers(y), sure, by)

    def sure(self, told: Tensor | None, n: int) -> Tensor | None:
        """Which of n labels are sure, by what the batch told, (n,) bool; None where all are in doubt."""
        if not self.trusted_in_stream:
            return None
        if told is None or len(told) != n:
            raise UsageError(
                "with trusted_in_stream=True batches are (x, y, trusted), the third a bool tensor that "
                f"says which of the {n} samples are trusted; other batches call it trusted"
            )
        return told
