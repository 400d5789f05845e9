r"""Focal loss: hard samples weigh more (Lin et al., "Focal Loss for Dense Object Detection", 2017).

$$L = \frac{1}{n} \sum_k (1 - p_k)^\gamma \ell_k, \qquad p_k = e^{-\ell_k}$$

where $p_k$ is the probability that the student gives to the label, so that no look inside it is
needed. A published loss is meant, so we take its true gradient, which flows through p as well, and
divide by n, not by Σw: the batch's step shrinks as the student grows sure, which is the loss's
point. (The paper calls it a weight $(1 - p)^\gamma$; MentorNet's code cuts the gradient there.)

The paper searched γ among 0.5, 1 and 2 and does not say how it chose. A comparison shows all three:
three plain trainings are cheap, and nothing is chosen behind the table.

With wrong labels the focal loss does the opposite of what helps: they are the hard samples.
"""

import torch

from reweigh.methods.base import Method, Setting
from reweigh.reweigher import Reweigher
from reweigh.student.seen import Seen
from reweigh.teachers import Teacher
from reweigh.typing import Weights


class FocalTeacher(Teacher):
    """$w = (1 - e^{-\\ell})^\\gamma$, alive in the student's gradient."""

    normalise = "count"
    shapes_loss = True

    def __init__(self, gamma: float) -> None:
        super().__init__()
        self.gamma = gamma

    def forward(self, seen: Seen) -> Weights:
        """(1 − p)^γ, (n,).

        The floor keeps γ < 1 finite where ℓ has rounded to 0: there ∂w/∂ℓ = ∞ would meet ℓ = 0.
        """
        tiny = torch.finfo(seen.losses.dtype).tiny
        return (-torch.expm1(-seen.losses)).clamp_min(tiny) ** self.gamma


class Focal(Method):
    """The focal loss with a given γ."""

    def reweigher(self, setting: Setting) -> Reweigher:
        """A teacher that learns nothing: the loss is all there is."""
        return setting.reweigher(FocalTeacher(self.config.gamma))
