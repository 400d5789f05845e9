r"""How long a step is under labels in doubt: as long as right ones would have made it.

In the student's logits the gradient of cross-entropy is p − 1[y], and that of a corrected loss p − q
with the posterior q. Noise leaves less of a label, so p − q is shorter, and a learning rate that is
right for clean labels is too small: under 40 % uniform noise by a factor of two. If labels come as
the student expects them, the mean squares of both are

$$ a = 1 - \|p\|^2, \qquad
   b = \sum_{\tilde y} \frac{\sum_y (T_{y\tilde y}\, p_y)^2}{\sum_y T_{y\tilde y}\, p_y} - \|p\|^2 $$

(the traces of the Fisher information of a right and of a given label), and losses times
$\sqrt{a/b}$ have gradients of the length that right labels would give them. It is 1 where T is the
identity, and never less, since noise makes no label tell more. Trusted samples of the stream are
multiplied as well: it is the step that becomes longer, and what samples weigh against each other
stays. (Adam takes steps of a length of its own, so this is for SGD.) Beyond the paper.
"""

import torch
from torch import Tensor, nn

from reweigh.distributed.group import total

RATE = 0.05
"""How much of the running means a batch replaces. Our choice."""
LONGEST = 4.0
"""Where a given label says next to nothing, √(a/b) has no bound. Our choice."""


class StepLength(nn.Module):
    """√(a/b), from running means of both; `value` stands still until `refresh`."""

    def __init__(self) -> None:
        super().__init__()
        self.value: Tensor
        self.squares: Tensor
        self.register_buffer("value", torch.ones(()))
        self.register_buffer("squares", torch.ones(2))  # (2,): a, b; the first steps are a warm-up

    @torch.no_grad()
    def notice(self, p: Tensor, table: Tensor, sure: Tensor | None = None) -> None:
        """Add a batch's predictions (n, C) under T (C, C), but for samples whose label is `sure`."""
        doubted = torch.ones_like(p[:, 0]) if sure is None else (~sure).to(p.dtype)  # (n,)
        both = torch.stack([*squares(p, table), torch.ones_like(doubted)]) @ doubted  # (3,)
        sums = total(both.to(self.squares.dtype))
        self.squares.lerp_(sums[:2] / sums[2].clamp_min(1.0), RATE * (sums[2] > 0))

    @torch.no_grad()
    def refresh(self) -> None:
        """Let `value` follow what was noticed."""
        a, b = self.squares
        self.value.copy_((a / b.clamp_min(1e-12)).clamp(1.0, LONGEST**2).sqrt())


def squares(p: Tensor, table: Tensor) -> tuple[Tensor, Tensor]:
    """Mean squares of p − 1[y] and of p − q over the labels that p (n, C) expects under T, (n,) each."""
    table = table.to(p.dtype)
    own = p.square().sum(1)  # (n,)
    told = (p.square() @ table.square() / (p @ table).clamp_min(1e-12)).sum(1)  # (n,)
    return 1 - own, told - own
