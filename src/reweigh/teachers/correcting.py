r"""Teachers whose student learns from corrected losses, $-\log \sum_y T_{y\tilde y}\, p_y$.

What the loop's own loss is left for are trusted samples: those that M is measured on, and those of
the stream, whose labels are sure.
"""

from collections.abc import Callable

from torch import Tensor, nn

from reweigh.batch import LABEL_NAMES, as_numbers, check_classes, find_labels, outputs, says_trusted
from reweigh.errors import UsageError
from reweigh.teachers.base import Teacher
from reweigh.teachers.noise_matrix import NoiseMatrix
from reweigh.typing import Batch, FindLabels, Losses, PerSampleLoss


class CorrectingTeacher(Teacher):
    """Has a noise matrix T; who weighs by what is left to its kinds.

    `logits(student, batch)` gives logits for batches that are not (x, y). With `doubtful` trusted
    samples are in the stream: batches are then (x, y, which are trusted).
    """

    def __init__(
        self,
        num_classes: int,
        logits: Callable[[nn.Module, Batch], Tensor] = outputs,
        doubtful: int | None = None,
    ) -> None:
        super().__init__()
        if num_classes < 2:
            raise UsageError(f"num_classes must be at least 2, not {num_classes}")
        self.matrix = NoiseMatrix(num_classes, alone=doubtful is None)
        self.logits, self.doubtful = logits, doubtful
        self._labels: FindLabels = find_labels

    def loss(self, own: PerSampleLoss, labels: FindLabels) -> PerSampleLoss:
        """The corrected loss, whatever the loop's own: that one is for trusted samples."""
        self._labels = labels
        return self.corrected

    def meet(self, labels: Tensor | None) -> None:
        """Start the noise matrix; where trusted samples hold it, it does not depend on labels."""
        if labels is not None:
            self.matrix.begin(check_classes(labels, len(self.matrix.table)))

    def corrected(self, student: nn.Module, batch: Batch) -> Losses:
        """−log Σ_y T_yỹ p_y, (n,); −log p_ỹ for trusted samples of the stream."""
        sure = None if self.doubtful is None else _told(batch)
        y = self._labels(batch)
        if y is None:
            raise UsageError(
                f"{type(self).__name__} cannot tell which part of the batch the labels are: give "
                f"(x, y), call it one of {', '.join(LABEL_NAMES)}, or give Reweigher labels=f, "
                "where f(batch) returns them"
            )
        return self.matrix.losses(self.logits(student, batch), as_numbers(y), sure)


def _told(batch: Batch) -> Tensor:
    """Which samples of a batch are trusted, (n,) bool."""
    told = batch[2] if isinstance(batch, tuple | list) and len(batch) > 2 else None
    if not says_trusted(told):
        raise UsageError(
            "with doubtful= batches are (x, y, trusted), the third a bool tensor that says which "
            "samples are trusted"
        )
    return told
