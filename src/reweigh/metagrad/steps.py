"""What is remembered of the student's steps, so that they can be gone through backwards."""

from dataclasses import dataclass, field

from torch import Tensor

from reweigh.errors import UsageError
from reweigh.metagrad.lean.wanted import Wanted
from reweigh.metagrad.rules import Share
from reweigh.student.batch import tensors
from reweigh.student.moment import Moment
from reweigh.student.seen import Seen
from reweigh.typing import Batch, Params


def leaves_of(theta: Params) -> Params:
    """θ as the leaves of a graph of its own, in the same memory: nothing may write there meanwhile."""
    return {name: t.detach().requires_grad_() for name, t in theta.items()}


@dataclass
class Graph:
    """A live first-order graph: θ as its leaves, the levers ω acts through, and g(θ, levers)."""

    theta: Params
    levers: list[Tensor]
    """The batch's weights, or the teacher's own parameters where it shapes the loss."""
    gradient: Params
    wanted: Wanted
    scale: float = 1.0
    """S, where the backward inside is that of S times the loss (`half.py`); `gradient` is g itself."""


@dataclass
class Pass:
    """One forward and backward pass of a step: a batch, or a part of an accumulated one."""

    batch: Batch
    moment: Moment
    seen: Seen
    weights: Tensor | None
    """What multiplied the losses, (n,); None where the teacher shapes the loss."""
    graph: Graph | None = None
    kept: bool = False
    """Whether the student's own step built the graph, to be used as often as asked. After a
    checkpoint it is built again, so that the numbers are the same."""
    versions: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.versions = self._versions()

    def check_batch(self) -> None:
        """A replay needs the batch as it was; buffers that a loop refills in place are not."""
        if self._versions() != self.versions:
            raise UsageError(
                "a recorded batch was changed in place before the teacher went back over it: give "
                "step() a copy, or tensors that the loop does not write into again"
            )

    def _versions(self) -> list[int]:
        return [0 if t.is_inference() else t._version for t in tensors(self.batch)]


@dataclass
class Step:
    """One optimizer step: $g = \\text{scale} \\sum_{passes} \\partial(w^\\top\\ell)/\\partial\\theta$."""

    passes: list[Pass] = field(default_factory=list)
    theta: Params | None = None
    """θ before the step; None where it is recovered by reversal."""
    shares: list[Share] = field(default_factory=list)
    gradient: Params | None = None
    """g before clipping, where a rule or the clipping wants it and it was at hand."""
    scale: Tensor | float = 1.0
    """1/Z over an accumulated batch, whose normaliser is known only at its end."""
    begins: Tensor | None = None
    """Norms of θ's tensors before the step; None where nobody took them (after a checkpoint)."""
    ends: Tensor | None = None
    """The same right after it: the next step begins there, unless a loop changes θ by itself."""
