"""Meta-Weight-Net (Shu et al., NeurIPS 2019): a curve from loss to weight, learned by look-ahead.

Before each step, θ̂ = θ − η ∂(Σ_k w(ℓ_k) ℓ_k / n)/∂θ by plain SGD without momentum or decay, and the
curve moves along −∂M(θ̂)/∂ω; the student's own step then uses the new weights. Settings are those of
the authors' stable script (Adam 1e-3, decay 1e-4, hidden 100, weights over n); their older script
normalises to Σw = 1 (`normalise`).
"""

import torch

from reweigh.methods.base import Method, Setting
from reweigh.reweigher import Reweigher
from reweigh.teachers import LossCurveTeacher


class MetaWeightNet(Method):
    """The loss-curve teacher with `lookahead`."""

    def reweigher(self, setting: Setting) -> Reweigher:
        """A curve that learns before every `every`-th step."""
        c = self.config
        with setting.drawing():
            teacher = LossCurveTeacher(c.hidden, normalise="sum" if c.normalise else "count")
        optimizer = torch.optim.Adam(
            teacher.parameters(), lr=c.teacher_lr, weight_decay=c.teacher_weight_decay
        )
        return setting.reweigher(
            teacher,
            trusted=lambda update: setting.trusted(update, c.trusted_batch),
            every=c.every,
            lookahead=True,
            teacher_optimizer=optimizer,
        )
