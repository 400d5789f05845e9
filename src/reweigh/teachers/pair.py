r"""The interaction and agreement teachers of sentence pairs, whose label is a sentence.

There is no class to have a direction of its own: the target stands beside the states as its pooled
embedding E. With I the pooled states of the decoder before the projection,

$$ w = \sigma(c\, m + I^\top U V^\top E + a \cdot I + e \cdot E + b), $$

so that the effect of a state depends on what it is said to mean, at rank r. Both are standardised by
the trusted pairs, coordinate by coordinate, and divided by the root of their width: what all
sentences share has no part in the weights, and one step of Adam on a thousand coordinates moves them
a little, not to saturation.

m is what the margin to trusted class means is for classes. A state agrees with its word where it
is near that word's embedding and far from all others; summed over a sentence this *is* the loss, for
the projection's matrix holds the embeddings. So $m = (\bar\ell - \ell) / s$, with mean and deviation
of the trusted pairs' losses under the same student: how much better or worse a pair is understood
than those that are known to be right. Beyond the paper.
"""

import torch
from torch import Tensor, nn

from reweigh.student.seen import Seen
from reweigh.teachers.base import Teacher
from reweigh.teachers.features import Feature, all_taps
from reweigh.teachers.loss_margin import follow, margin, standardised
from reweigh.typing import Weights

_FAR = 3.0  # deviations beyond which a loss is as odd as any


class PairTeacher(Teacher):
    """σ(c·m + IᵀUVᵀE + a·I + e·E + b); without `agreement` there is no m.

    `rank`, `scale` (c's start) and `decay` (how long the trusted losses are remembered) are our
    choices. All learned terms but c start at zero, so training starts nearly as plain training.
    """

    def __init__(
        self,
        state: Feature,
        label: Feature,
        *,
        agreement: bool,
        rank: int = 16,
        scale: float = 1.0,
        decay: float = 0.9,
    ) -> None:
        super().__init__()
        self.state, self.label, self.decay = state, label, decay
        self.taps = all_taps((state, label))
        self.agreement = agreement
        self.basis = nn.Parameter(torch.randn(state.size, rank) / state.size**0.5)  # U
        self.directions = nn.Parameter(torch.zeros(label.size, rank))  # V
        self.alone = nn.Linear(state.size + label.size, 1)
        nn.init.zeros_(self.alone.weight)
        nn.init.zeros_(self.alone.bias)
        self.scale = nn.Parameter(torch.tensor(float(scale)), requires_grad=agreement)
        self.trusted: Tensor
        self.register_buffer("trusted", torch.full((2,), torch.nan))  # ℓ̄, s²
        self.usual: Tensor
        self.register_buffer("usual", torch.full((2, state.size + label.size), torch.nan))

    @torch.no_grad()
    def notice_trusted(self, seen: Seen) -> None:
        """Move means and variances towards those of a trusted batch's losses, states and targets."""
        follow(self.trusted, seen.losses, self.decay)
        follow(self.usual, self._both(seen), self.decay)

    def _both(self, seen: Seen) -> Tensor:
        dtype = self.basis.dtype
        return torch.cat([self.state(seen).to(dtype), self.label(seen).to(dtype)], 1)

    def standardised(self, seen: Seen) -> tuple[Tensor, Tensor]:
        """I (n, d) and E (n, e), with squared lengths of about 1; 0 until trusted pairs were seen."""
        both = standardised(self.usual, self._both(seen), 1e-6)
        I, E = both.split([self.state.size, self.label.size], 1)  # noqa: E741 (the paper's)
        return I / self.state.size**0.5, E / self.label.size**0.5

    def margin(self, seen: Seen) -> Tensor:
        """(ℓ̄ − ℓ)/s within ±3, (n,); 0 until trusted pairs were seen."""
        return margin(self.trusted, seen.losses, _FAR)

    def forward(self, seen: Seen) -> Weights:
        """σ of the sum, (n,)."""
        I, E = self.standardised(seen)  # noqa: E741 (the paper's)
        together = ((I @ self.basis) * (E @ self.directions)).sum(1)  # (n,)
        logits = together + self.alone(torch.cat([I, E], 1)).squeeze(1)
        if self.agreement:
            logits = logits + self.scale * self.margin(seen)
        return logits.sigmoid()
