r"""SGD with momentum, Nesterov, dampening and coupled weight decay, as `torch.optim.SGD` has it.

$g = \pm G + \lambda\theta$; $v' = \mu v + (1-d)\,g$ (the first time $v' = g$); $u = v'$, or
$g + \mu v'$ with Nesterov, or $g$ without momentum; $\theta' = \theta - \eta u$. Backwards:

$$ du = -\eta\, d\theta', \quad dv' \mathrel{+}= du\ (\mu\,du), \quad dg = (1-d)\,dv'\ (+\,du),
   \quad dv = \mu\, dv', \quad d\theta = d\theta' + \lambda\, dg, \quad dG = \pm dg. $$

The η of a step is the one that moved θ in that step. (The paper's Algorithm 1 starts with
$dv = -\eta_K d\theta_K$, an index too far: $\theta_K$ was reached with $\eta_{K-1}$.)
"""

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.optim import SGD, Optimizer

from reweigh.metagrad.rules.base import Adjoint, Rule, Share, moved
from reweigh.typing import Params

VELOCITY = "momentum_buffer"
SETTINGS = ("lr", "momentum", "dampening", "weight_decay", "nesterov", "maximize")


class SGDRule(Rule):
    """θ' = θ − η v': linear in everything, so that backwards it needs neither θ nor G."""

    optimizers = (SGD,)
    needs_gradient = False
    refused: ClassVar[dict[str, str]] = {
        "differentiable": "reweigh differentiates through the step by itself",
    }

    def remember(
        self, optimizer: Optimizer, group: dict[str, Any], names: dict[Tensor, str]
    ) -> list[Share]:
        """The settings; parameters without a velocity yet form a share of their own."""
        settings = {key: group[key] for key in SETTINGS} | {"lr": float(group["lr"])}
        params = moved(group, names)
        fresh = [p for p in params if optimizer.state.get(p, {}).get(VELOCITY) is None]
        older = [p for p in params if optimizer.state.get(p, {}).get(VELOCITY) is not None]
        return [
            Share([names[p] for p in some], settings | {"first": first})
            for some, first in ((fresh, True), (older, False))
            if some
        ]

    def adjoint(self, share: Share, theta: Params, gradient: Params | None, d: Adjoint) -> Params:
        """Carry (dθ', dv') back to (dθ, dv) and give dG."""
        result: Params = {}
        for name in share.names:
            dv = d.of(VELOCITY, name)
            d.theta[name], dv, result[name] = _back(share.settings, d.theta[name], dv)
            d.put(VELOCITY, name, dv)
        return result


def _back(
    s: dict[str, Any], d_theta: Tensor, dv: Tensor | None
) -> tuple[Tensor, Tensor | None, Tensor]:
    """One tensor's dθ, dv and dG, in as few passes over memory as it takes: with a large θ they count."""
    mu = s["momentum"]
    du: Tensor = -s["lr"] * d_theta
    dg = du
    if mu:
        through = mu * du if s["nesterov"] else du
        full = through if dv is None else dv + through
        damped = s["dampening"] and not s["first"]
        dg = (1 - s["dampening"]) * full if damped else full
        dg = dg + du if s["nesterov"] else dg
        dv = None if s["first"] else mu * full
    if s["weight_decay"]:
        d_theta = torch.add(d_theta, dg, alpha=s["weight_decay"])
    return d_theta, dv, -dg if s["maximize"] else dg
