r"""The agreement teacher: does a sample's label agree with trusted samples that look like it?

The trusted batch of every update passes through the student anyway; the means μ_c of its internal
states, class by class, are prototypes of what right labels look like *from inside*. With centred
cosines $\kappa_c = \cos(I - \bar\mu, \mu_c - \bar\mu)$ the label's margin is $m = \kappa_y -
\max_{j \ne y} \kappa_j$, and

$$ w = \sigma(c\, m + I \cdot A_y + b_y). $$

m needs no learning to be right and does not depend on the student's coordinates; c, A and b are learned
by the meta-gradient. Early, when all classes look alike from inside, m is near 0 and the weights are
alike; they sharpen as the features do. Beyond the paper.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from reweigh.seen import Seen
from reweigh.teachers.features import labels_of
from reweigh.teachers.interaction import InteractionTeacher


class AgreementTeacher(InteractionTeacher):
    """The interaction teacher with a prior: the margin to trusted class means.

    `scale` is c's start, `decay` how long the means remember (both our choices). `learned=False`
    leaves out I·A_y, so that nothing depends on the student's coordinates.
    """

    def __init__(
        self,
        student: nn.Module,
        *,
        layer: str,
        num_classes: int,
        scale: float = 4.0,
        decay: float = 0.9,
        learned: bool = True,
        rank: int | None = None,
    ) -> None:
        super().__init__(student, layer=layer, num_classes=num_classes, rank=rank)
        self.decay = decay
        self.scale = nn.Parameter(torch.tensor(scale))
        self.directions.requires_grad_(learned)
        self.means: Tensor
        self.known: Tensor
        size = self.features[0].size
        self.register_buffer("means", torch.zeros(num_classes, size))  # (C, d)
        self.register_buffer("known", torch.zeros(num_classes))  # (C,) weight of what was seen

    @torch.no_grad()
    def notice_trusted(self, seen: Seen) -> None:
        """Move the class means towards those of a trusted batch."""
        state = self.features[0](seen).to(self.means.dtype)  # (n, d)
        members = F.one_hot(labels_of(seen), len(self.means)).to(state.dtype)  # (n, C)
        counts = members.sum(0)  # (C,)
        fresh = members.T @ state / counts.clamp_min(1.0)[:, None]  # (C, d)
        pace = torch.where(self.known > 0, 1 - self.decay, 1.0).to(state.dtype)  # (C,)
        rate = pace * (counts > 0)  # (C,)
        self.means.lerp_(fresh, rate[:, None])
        self.known.lerp_(torch.ones_like(self.known), rate)

    def margin(self, seen: Seen) -> Tensor:
        """κ_y − max_{j≠y} κ_j, (n,), in [−2, 2]; 0 until every class has been seen."""
        centre = self.means.mean(0)  # (d,)
        state = self.features[0](seen).to(self.means.dtype) - centre  # (n, d)
        kappa = F.normalize(state, dim=1) @ F.normalize(self.means - centre, dim=1).T  # (n, C)
        y = labels_of(seen)[:, None]  # (n, 1)
        others = kappa.scatter(1, y, -1.0).amax(1)
        return (kappa.gather(1, y).squeeze(1) - others) * (self.known > 0).all()

    def logits(self, seen: Seen) -> Tensor:
        """c·m + I·A_y + b_y, (n,)."""
        return super().logits(seen) + self.scale * self.margin(seen)
