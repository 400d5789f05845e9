r"""The agreement teacher: does a sample's label agree with trusted samples that look like it?

The trusted batch of every update passes through the student anyway; the means of its internal
states, class by class, are prototypes of what right labels look like *from inside*. With the margin
m of the label to them (`class_means`),

$$ w = \sigma(c\, m + I \cdot A_y + b_y). $$

m needs no learning to be right; c, A and b are learned by the meta-gradient. Early, when all classes
look alike from inside, m is near 0 and the weights are alike; they sharpen as the features do.
Beyond the paper.
"""

import torch
from torch import Tensor, nn

from reweigh.student.seen import Seen
from reweigh.teachers.class_means import ClassMeans
from reweigh.teachers.features import labels_of
from reweigh.teachers.interaction import InteractionTeacher


class AgreementTeacher(InteractionTeacher):
    """The interaction teacher with a prior: the margin to trusted class means.

    `scale` is c's start, `decay` how long the means remember (both our choices).
    """

    def __init__(
        self,
        student: nn.Module,
        *,
        layer: str,
        num_classes: int,
        scale: float = 4.0,
        decay: float = 0.9,
        rank: int | None = None,
    ) -> None:
        super().__init__(student, layer=layer, num_classes=num_classes, rank=rank)
        self.scale = nn.Parameter(torch.tensor(float(scale)))
        self.class_means = ClassMeans(num_classes, self.features[0].size, decay=decay)

    def notice_trusted(self, seen: Seen) -> None:
        """Move the class means towards those of a trusted batch."""
        self.class_means.follow(self.features[0](seen), labels_of(seen, len(self.bias)))

    def margin(self, seen: Seen) -> Tensor:
        """m, (n,)."""
        return self.class_means.margin(self.features[0](seen), labels_of(seen, len(self.bias)))

    def logits(self, seen: Seen) -> Tensor:
        """c·m + I·A_y + b_y, (n,)."""
        return super().logits(seen) + self.scale * self.margin(seen)
