r"""What right labels look like from inside: the class means of the trusted samples' states.

With means $\mu_c$, their centre $\bar\mu$ and the centred cosines $\kappa_c = \cos(I - \bar\mu, \mu_c -
\bar\mu)$, the margin of a sample is $m = \kappa_y - \max_{j \ne y} \kappa_j$. Rotating, shifting or
scaling the student's states changes nothing in m, so it means the same of any student.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from reweigh.student.batch import check_num_classes


class ClassMeans(nn.Module):
    """Running means of internal states, class by class; `decay` is how long they remember."""

    def __init__(self, num_classes: int, size: int, *, decay: float) -> None:
        super().__init__()
        self.decay = decay
        self.means: Tensor
        self.known: Tensor
        self.register_buffer("means", torch.zeros(check_num_classes(num_classes), size))  # (C, d)
        self.register_buffer("known", torch.zeros(num_classes))  # (C,): 1 once a sample was seen

    @torch.no_grad()
    def follow(self, state: Tensor, labels: Tensor) -> None:
        """Move towards the means of a trusted batch: states (n, d), labels (n,)."""
        state = state.to(self.means.dtype)
        members = F.one_hot(labels, len(self.means)).to(state.dtype)  # (n, C)
        counts = members.sum(0)  # (C,)
        fresh = members.T @ state / counts.clamp_min(1.0)[:, None]  # (C, d)
        pace = torch.where(self.known > 0, 1 - self.decay, 1.0).to(state.dtype)  # (C,)
        rate = pace * (counts > 0)  # (C,)
        self.means.lerp_(fresh, rate[:, None])
        self.known.masked_fill_(counts > 0, 1.0)

    def margin(self, state: Tensor, labels: Tensor) -> Tensor:
        """κ_y − max_{j≠y} κ_j, (n,), in [−2, 2], among the classes seen; 0 for samples of others.

        With fewer than two there is nothing to compare with, and all have 0.
        """
        met = self.known > 0  # (C,)
        centre = self.means.sum(0) / met.sum().clamp_min(1)  # (d,); what was not met is 0
        state = state.to(self.means.dtype) - centre  # (n, d)
        kappa = F.normalize(state, dim=1) @ F.normalize(self.means - centre, dim=1).T  # (n, C)
        y = labels[:, None]  # (n, 1)
        others = kappa.where(met, -1.0).scatter(1, y, -1.0).amax(1)
        return (kappa.gather(1, y).squeeze(1) - others) * (met[labels] & (met.sum() > 1))
