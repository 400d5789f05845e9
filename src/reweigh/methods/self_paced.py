r"""Self-paced learning: the easy samples first (Kumar et al., 2010), as RL4Data paces it.

$$w_k = 1[\operatorname{rank}_c(\ell_k) < n_c], \qquad n_c = 1 + \lfloor s\,(N_c - 1) \rfloor$$

for the $N_c$ samples of class c in the batch: within each class the $n_c$ smallest losses are kept,
and the share s grows linearly from `start_share` to 1 at `full_at` of the run. The loss of a batch is
$\sum_k w_k \ell_k / n$, Kumar's objective: a kept sample pulls as hard as in plain training, so few of
them make a short step. (Weights that sum to 1 make full-sized steps on some ten samples early on;
that was behind plain training even on clean labels. `normalise` brings it back.)

Three deviations from RL4Data (`SPLUpdater`). It counts n in samples of the *batch* but applies it
within a class, so that with ten classes everything is kept after a tenth of the run; here the
schedule means the same share of a class as of a batch. `full_at` is 0.5: at 1 the hard samples came
when a cosine schedule had no rate left for them, and training failed even on clean labels. And every
batch is a step, as for all methods; there kept samples are gathered until a full batch is together,
which makes fewer and longer steps of the same sum.
The paper gives no schedule.
"""

import torch
from torch import Tensor

from reweigh.errors import UsageError
from reweigh.methods.base import Method, Setting
from reweigh.reweigher import Reweigher
from reweigh.student.seen import Seen
from reweigh.teachers import Teacher
from reweigh.typing import Weights


class SelfPacedTeacher(Teacher):
    """1 for the easiest share of each class (or of the batch), 0 for the rest."""

    judges_batch = True

    def __init__(
        self, *, start_share: float, full_at: float, per_class: bool, normalise: str = "count"
    ) -> None:
        super().__init__()
        self.normalise = normalise
        self.start_share, self.full_at, self.per_class = start_share, full_at, per_class

    def forward(self, seen: Seen) -> Weights:
        """1 or 0, (n,); at least one sample of each group is kept."""
        rank, size = ranks_within(seen.losses, self._groups(seen))
        more = self.share(seen.progress.share) * (size - 1)  # (n,)
        kept = 1 + torch.floor(more + 1e-4)  # 0.3 · 10 rounds to just below 3
        return (rank < kept).to(seen.losses.dtype)

    def share(self, done: float) -> float:
        """s: the share of a group to keep when `done` of the run is over."""
        return self.start_share + (1 - self.start_share) * min(1.0, done / self.full_at)

    def _groups(self, seen: Seen) -> Tensor:
        if not self.per_class:
            return torch.zeros_like(seen.losses, dtype=torch.int64)
        if seen.labels is None or seen.labels.ndim != 1:
            raise UsageError(
                "self-paced learning within classes needs one class label per sample, and the "
                "batch has none: set method.per_class = false"
            )
        return seen.labels


def ranks_within(values: Tensor, groups: Tensor) -> tuple[Tensor, Tensor]:
    """The place of each value among its group's, from 0, and the group's size: both (n,)."""
    by_value = values.argsort(stable=True)
    order = by_value[groups[by_value].argsort(stable=True)]  # group by group, smallest value first
    sorted_groups = groups[order]
    first = torch.searchsorted(sorted_groups, sorted_groups)  # where each one's group begins
    end = torch.searchsorted(sorted_groups, sorted_groups, right=True)
    rank, size = torch.empty_like(order), torch.empty_like(order)
    rank[order] = torch.arange(len(order), device=order.device) - first
    size[order] = end - first
    return rank, size


class SelfPaced(Method):
    """Easy samples first, all of them in the end."""

    def reweigher(self, setting: Setting) -> Reweigher:
        """A teacher that follows its schedule and learns nothing."""
        c = self.config
        teacher = SelfPacedTeacher(
            start_share=c.start_share,
            full_at=c.full_at,
            per_class=c.per_class,
            normalise="sum" if c.normalise else "count",
        )
        return setting.reweigher(teacher)
