r"""Learning to teach, loss (Wu et al., NeurIPS 2018): the teacher shapes the student's loss.

$\ell = -\operatorname{mean} \sigma([\log p \cdot (W + h W_2) + b]_y)$ with
$h = 2\sigma(\theta_0 t + \theta_1 a + b_2) - 1$, t the share of steps done, a the accuracy on the batch. W
starts as the identity, so that at first a sample loses $-p_y / (1 + p_y)$: bounded, and flat in the
logits where p_y is near 1 and where it is near 0, so that wrong labels pull little. The teacher
learns W, W₂, b, θ and b₂ by the meta-gradient of the trusted loss.

What we do otherwise than the authors' demonstration code (L2T_loss):

- They train the student by plain SGD at rate 0.01, restart it for every update of the teacher and
  go back over all of 200 steps. Here all methods share one student, schedule and optimiser, the
  teacher learns while the student does, and an update goes back over the last `through` of `every`
  steps, exactly, through whatever optimizer it is. That is our budget.
- Their trusted measure is a smooth 0/1 error, $2\sigma(k(\max p - p_y)) - 1$ with k = 50; ours is the mean
  trusted cross-entropy, as for every method here.
- They start θ, b₂ and W₂ at 0, where h = 0 and no derivative of the three is ever other than 0. We start
  θ₀ at 1, so that W₂ can learn; the loss at the start is the same.
- They pretrain for 1,000 steps on the plain loss; we for a share of the run.

On this budget most of what the method gives is its first loss. Digits, flip:0.4, three seeds: test
error 10.1 % with the teacher learning, 10.5 % with it standing still, 18.7 % for plain training. At ten
times the rate one seed of three ended at 41 %: log p of an unlikely class is large, so a small entry
of W off the diagonal takes over the loss.

The method gives no weights: the ones reported are all alike, and their AUROC is 0.5.
"""

import torch
from torch import Tensor, nn

from reweigh.distributed.group import total
from reweigh.methods.base import Method, Setting
from reweigh.reweigher import Reweigher
from reweigh.student.seen import Seen, Tap
from reweigh.teachers import Teacher
from reweigh.teachers.features import labels_of
from reweigh.typing import Weights


class LossShaper(Teacher):
    """α·CE + (1 − α)·ℓ on the logits, the output of `layer`; α = 1 during pretraining."""

    shapes_loss = True

    def __init__(
        self, layer: str, num_classes: int, *, pretrain: float = 0.0, plain_share: float = 0.0
    ) -> None:
        super().__init__()
        self.taps = (Tap(layer, "output"),)
        self.pretrain, self.plain_share = pretrain, plain_share
        self.still = nn.Parameter(torch.eye(num_classes))  # W
        self.moving = nn.Parameter(torch.zeros(num_classes, num_classes))  # W₂
        self.bias = nn.Parameter(torch.zeros(num_classes))  # b
        self.clock = nn.Parameter(torch.tensor([1.0, 0.0, 0.0]))  # θ₀, θ₁, b₂

    def forward(self, seen: Seen) -> Weights:
        """All alike, (n,): the shape of the loss does what weights would do."""
        return torch.ones_like(seen.losses)

    def objective(self, seen: Seen) -> Tensor:
        """The student's loss, (); of several processes, this one's part of it."""
        alpha = 1.0 if seen.progress.share < self.pretrain else self.plain_share
        own = alpha * seen.losses + (1 - alpha) * self.shaped(seen)  # (n,)
        return own.sum() / total(torch.ones_like(own.detach()).sum())

    def shaped(self, seen: Seen) -> Tensor:
        """ℓ of each sample, (n,), in (−1, 0)."""
        y = labels_of(seen)
        logits = seen.states[self.taps[0].key].to(seen.losses.dtype)  # (n, C)
        right = (logits.argmax(1) == y).to(logits.dtype).sum()
        a = total(right) / total(torch.ones_like(y, dtype=right.dtype).sum())
        W = self.still + self._h(seen.progress.share, a) * self.moving
        scores = logits.log_softmax(1) @ W + self.bias  # (n, C)
        return -scores.gather(1, y[:, None]).squeeze(1).sigmoid()

    def _h(self, t: float, a: Tensor) -> Tensor:
        theta_0, theta_1, b_2 = self.clock
        return 2 * (theta_0 * t + theta_1 * a + b_2).sigmoid() - 1


class L2TLoss(Method):
    """A learned loss in place of learned weights."""

    def reweigher(self, setting: Setting) -> Reweigher:
        """The teacher learns every `every` steps through the last `through`."""
        c = self.config
        teacher = LossShaper(
            setting.layers["I0"],
            setting.classes,
            pretrain=c.pretrain,
            plain_share=c.plain_share,
        )
        return setting.reweigher(
            teacher,
            trusted=lambda update: setting.trusted(update, c.trusted_batch),
            every=c.every,
            through=c.through,
            teacher_optimizer=torch.optim.SGD(teacher.parameters(), lr=c.teacher_lr),
        )
