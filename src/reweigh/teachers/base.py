r"""The interface of a teacher: $w = \phi(I, M; \omega)$, one non-negative number per sample."""

from torch import Tensor, nn

from reweigh.seen import Seen, Tap
from reweigh.typing import Losses, Weights


class Teacher(nn.Module):
    """Maps what it sees of a batch to one weight per sample.

    A new teacher overrides `forward` and, where it looks inside the student, sets `taps`.
    `normalise` is how raw weights become the batch loss: "sum" (the paper's w̃_k = w_k / Σ_j w_j)
    or "count" (w_k / n, as Meta-Weight-Net has it).
    """

    taps: tuple[Tap, ...] = ()
    normalise: str = "sum"
    shapes_loss: bool = False
    """True where `objective` is more than a sum of losses under weights that are free of θ."""

    meta_learned: bool = True
    """False where the teacher's parameters are learned otherwise than by the meta-gradient."""

    def notice(self, seen: Seen) -> None:
        """Called once per training pass, before `forward`: for teachers that keep statistics."""

    def forward(self, seen: Seen) -> Weights:
        """Raw weights, (n,), non-negative and not yet normalised."""
        raise NotImplementedError

    def objective(self, seen: Seen) -> Tensor:
        r"""The student's loss $\tilde w^\top \ell$ with ∂w/∂θ alive (deeper interaction)."""
        return (normalised(self(seen), self.normalise) * seen.losses).sum()


def normaliser(w: Weights, kind: str) -> Tensor:
    """What raw weights are divided by: Σ_j w_j, or n. A batch of all zeros keeps its zeros."""
    if kind == "count":
        return w.new_tensor(float(len(w)))
    total = w.sum()
    return total + (total == 0).to(total.dtype)


def normalised(w: Weights, kind: str) -> Weights:
    """The weights of a whole (accumulated) batch as they multiply its losses."""
    return w / normaliser(w, kind)


def effective_share(w: Weights) -> Losses:
    r"""Effective sample size over the batch's: $(\sum w)^2 / (n \sum w^2)$, in (0, 1], ()."""
    return w.sum().square() / (len(w) * w.square().sum()).clamp_min(1e-38)
