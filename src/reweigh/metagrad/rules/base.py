r"""What an update rule must tell about itself.

One optimizer step is $(\theta', s') = U(\theta, s, G)$ with optimizer state s and gradient G. Going
backwards, the cotangents of $(\theta', s')$ become those of $(\theta, s, G)$; G's own dependence on
θ and ω is none of the rule's business.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

from torch import Tensor
from torch.optim import Optimizer

from reweigh.errors import UnsupportedError
from reweigh.typing import Params


@dataclass(frozen=True)
class Share:
    """Part of one optimizer step: parameters that moved by the same settings, and their state."""

    names: list[str]
    settings: dict[str, Any]
    state: dict[str, list[Tensor]] = field(default_factory=dict)
    """Optimizer state *before* the step, in the order of `names`; only what the adjoint needs."""


@dataclass
class Adjoint:
    """Cotangents of one point of the trajectory: dθ and, per kind of optimizer state, ds."""

    theta: Params
    state: dict[str, Params] = field(default_factory=dict)

    def of(self, kind: str, name: str) -> Tensor | None:
        """The cotangent of one piece of state; None where nothing depends on it yet."""
        return self.state.setdefault(kind, {}).get(name)

    def put(self, kind: str, name: str, value: Tensor | None) -> None:
        """Replace it; None forgets it."""
        held = self.state.setdefault(kind, {})
        held.pop(name, None)
        if value is not None:
            held[name] = value


class Rule(ABC):
    """An update rule: remembers a step, and carries cotangents back over it."""

    optimizers: tuple[type[Optimizer], ...]
    needs_gradient: bool
    """Whether `adjoint` reads G (nonlinear rules do)."""
    refused: ClassVar[dict[str, str]] = {}
    """Settings of the optimizer that are not supported, with what to do instead."""

    def check(self, group: dict[str, Any]) -> None:
        """Refuse, by name, settings that would be differentiated wrongly."""
        for setting, way_out in self.refused.items():
            if group.get(setting):
                name = self.optimizers[0].__name__
                raise UnsupportedError(f"{name}({setting}=True) is not supported: {way_out}")

    @abstractmethod
    def remember(
        self, optimizer: Optimizer, group: dict[str, Any], names: dict[Tensor, str]
    ) -> list[Share]:
        """What the adjoint will need of the step that is about to be taken in this group."""

    @abstractmethod
    def adjoint(self, share: Share, theta: Params, gradient: Params | None, d: Adjoint) -> Params:
        """Carry `d` from (θ', s') to (θ, s) in place; return dG by name."""


def moved(group: dict[str, Any], names: dict[Tensor, str]) -> list[Tensor]:
    """The parameters of a group that this step moves: those with a gradient, as torch has it."""
    held = [p for p in group["params"] if p.grad is not None and p.requires_grad]
    for p in held:
        if p.grad.is_sparse:
            raise UnsupportedError(
                f"parameter {names[p]!r} has a sparse gradient: use sparse=False in its layer"
            )
    return held
