r"""Learning to Reweight Examples (Ren et al., ICML 2018): fresh weights in every step, no teacher.

$w_k \propto \max(0, -\partial M(\hat\theta(\epsilon))/\partial\epsilon_k |_{\epsilon=0})$ with one
virtual SGD step, normalised to sum 1; a batch in which no sample helps keeps its zeros, as in the
paper. At ε = 0 the virtual step leads nowhere, so all slopes come from one forward-mode pass instead
of a second backward.
"""

import torch
from torch import Tensor

from reweigh.metagrad.lookahead import Lookahead
from reweigh.methods.base import Method, Setting
from reweigh.reweigher import Reweigher
from reweigh.student.seen import Seen
from reweigh.teachers import Teacher
from reweigh.typing import Weights


class _Slopes(Teacher):
    """Weighs the batch that it looked ahead on, by how much each sample would help."""

    fresh: Tensor | None = None

    def look_ahead(self, ahead: Lookahead) -> None:
        """−∂M/∂ε_k at ε = 0, cut at 0, (n,)."""
        self.fresh = (-ahead.slopes_at_zero()).clamp_min(0.0)

    def forward(self, seen: Seen) -> Weights:
        """The weights found ahead of this step, (n,), once; 1 for what nobody looked ahead on."""
        found, self.fresh = self.fresh, None
        return torch.ones_like(seen.losses) if found is None else found


class LearningToReweight(Method):
    """Weights straight from the trusted gradient."""

    def reweigher(self, setting: Setting) -> Reweigher:
        """Looks ahead before every step."""
        c = self.config
        return setting.reweigher(
            _Slopes(),
            trusted=lambda update: setting.trusted(update, c.trusted_batch),
            every=1,
            lookahead=True,
        )
