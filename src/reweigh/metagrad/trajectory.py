r"""Where θ_t comes from when the recursion goes back: kept graphs, snapshots, or reversal.

- *kept*: the recorded steps keep their graphs; nothing is recomputed. B · activations of memory.
- *snapshots*: θ_t is copied before each recorded step; passes are recomputed. B · |θ| of memory.
- *reversal*: the paper's $\theta_t = \theta_{t+1} + \eta_t v_{t+1}$, $v_t = (v_{t+1} - g_t)/\mu$. |θ|
  of memory, but each step divides rounding errors by μ, so it holds for small B only (float32
  ResNet-8: relative error of θ 1e-8 at B = 2, 2e-5 at 10, 0.2 at 50). SGD with momentum only.
- *finite*: snapshots with finite differences in place of derivatives; approximate, for kernels that
  have no second derivative.
"""

from torch import Tensor
from torch.optim import Optimizer

from reweigh.errors import UnsupportedError
from reweigh.metagrad.rules import Rule
from reweigh.metagrad.rules.sgd import VELOCITY, SGDRule
from reweigh.metagrad.steps import Step
from reweigh.typing import Params

KINDS = ("auto", "kept", "snapshots", "reversal", "finite")


class Recorded:
    """θ_t as it was copied before each step (kept graphs and snapshots alike)."""

    def theta_before(self, step: Step) -> Params:
        """θ_t."""
        assert step.theta is not None
        return step.theta

    def learn(self, step: Step, gradient: Params) -> None:
        """Nothing to recover."""

    needs_gradient = False


class Reversed:
    """θ_t recovered from θ_{t+1} and v_{t+1}, going back from where training stands."""

    needs_gradient = True

    def __init__(self, theta: Params, velocity: Params) -> None:
        self.theta = dict(theta)
        self.velocity = dict(velocity)

    def theta_before(self, step: Step) -> Params:
        """θ_t = θ_{t+1} + η_t v_{t+1}."""
        for share in step.shares:
            for name in share.names:
                self.theta[name] = self.theta[name] + share.settings["lr"] * self.velocity[name]
        return dict(self.theta)

    def learn(self, step: Step, gradient: Params) -> None:
        """v_t = (v_{t+1} − (1−d) (G_t + λ θ_t)) / μ, once G_t (after clipping) is known."""
        for share in step.shares:
            s = share.settings
            for name in share.names:
                g = -gradient[name] if s["maximize"] else gradient[name]
                g = (1 - s["dampening"]) * (g + s["weight_decay"] * self.theta[name])
                self.velocity[name] = (self.velocity[name] - g) / s["momentum"]


def check_reversible(rule: Rule, optimizer: Optimizer) -> None:
    """Refuse reversal where the update cannot be undone."""
    for group in optimizer.param_groups:
        momentum, nesterov = group.get("momentum", 0), group.get("nesterov", False)
        if not isinstance(rule, SGDRule) or not momentum or nesterov:
            raise UnsupportedError(
                f"trajectory='reversal' needs SGD with momentum > 0 and without Nesterov, not "
                f"{type(optimizer).__name__}(momentum={momentum}, nesterov={nesterov}): "
                "use trajectory='snapshots'"
            )


def velocities(optimizer: Optimizer, names: dict[Tensor, str]) -> Params:
    """v_K by name, where training stands."""
    held = {name: optimizer.state.get(p, {}).get(VELOCITY) for p, name in names.items()}
    return {name: v for name, v in held.items() if v is not None}
