r"""Adam and AdamW, as `torch.optim` has them.

$g = \pm G$ ($+\lambda\theta$ in Adam); $m' = \beta_1 m + (1-\beta_1) g$;
$v' = \beta_2 v + (1-\beta_2) g^2$; $D = \sqrt{v'/c_2} + \epsilon$ with $c_i = 1-\beta_i^t$;
$\theta' = \theta\,(1-\eta\lambda$ in AdamW$) - (\eta/c_1)\, m'/D$. Backwards:

$$ dm' \mathrel{+}= -\tfrac{\eta}{c_1}\,\tfrac{d\theta'}{D}, \quad
   dv' \mathrel{+}= \tfrac{\eta}{c_1}\,\tfrac{m'\,d\theta'}{2 D^2\sqrt{c_2 v'}}, \quad
   dg = (1-\beta_1)\,dm' + 2(1-\beta_2)\,g\,dv', \quad dm = \beta_1 dm', \quad dv = \beta_2 dv'. $$

Where $v' = 0$ (a weight that never had a gradient) $m'$ is 0, too, and the second term's limit is
0: taken literally it would be 0·∞.
"""

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.optim import Adam, AdamW, Optimizer

from reweigh.metagrad.rules.base import Adjoint, Rule, Share, moved
from reweigh.typing import Params

FIRST, SECOND = "exp_avg", "exp_avg_sq"


class AdamRule(Rule):
    """Moments of the gradient; decay coupled (Adam) or decoupled (AdamW)."""

    optimizers = (Adam, AdamW)
    needs_gradient = True
    refused: ClassVar[dict[str, str]] = {
        "amsgrad": "its running maximum is not differentiated through; use amsgrad=False",
        "differentiable": "reweigh differentiates through the step by itself",
    }

    def remember(
        self, optimizer: Optimizer, group: dict[str, Any], names: dict[Tensor, str]
    ) -> list[Share]:
        """Settings and both moments; parameters that are at different step counts stay apart."""
        decoupled = type(optimizer) is AdamW or group.get("decoupled_weight_decay")
        by_step: dict[int, list[Tensor]] = {}
        params = list(moved(group, names))
        for p, done in zip(params, _steps_done(optimizer, params), strict=True):
            by_step.setdefault(done, []).append(p)
        return [
            Share(
                [names[p] for p in some],
                {
                    "lr": float(group["lr"]),
                    "betas": tuple(float(beta) for beta in group["betas"]),
                    "eps": group["eps"],
                    "weight_decay": group["weight_decay"],
                    "maximize": group["maximize"],
                    "decoupled": bool(decoupled),
                    "t": done + 1,
                },
                {kind: [_moment(optimizer, p, kind) for p in some] for kind in (FIRST, SECOND)},
            )
            for done, some in by_step.items()
        ]

    def adjoint(self, share: Share, theta: Params, gradient: Params | None, d: Adjoint) -> Params:
        """Carry (dθ', dm', dv') back to (dθ, dm, dv) and give dG."""
        assert gradient is not None
        result: Params = {}
        for k, name in enumerate(share.names):
            moments = share.state[FIRST][k], share.state[SECOND][k]
            cotangents = d.theta[name], d.of(FIRST, name), d.of(SECOND, name)
            d.theta[name], dm, dv, result[name] = _back(
                share.settings, theta[name], gradient[name], *moments, *cotangents
            )
            d.put(FIRST, name, dm)
            d.put(SECOND, name, dv)
        return result


def _steps_done(optimizer: Optimizer, params: list[Tensor]) -> list[int]:
    """Of each parameter. Fused optimizers count on the device, which is waited for once."""
    counts = [optimizer.state.get(p, {}).get("step", 0) for p in params]
    held = [count for count in counts if isinstance(count, Tensor)]
    known = iter(torch.stack([c.to(held[0].device) for c in held]).tolist() if held else ())
    return [int(next(known)) if isinstance(count, Tensor) else int(count) for count in counts]


def _moment(optimizer: Optimizer, p: Tensor, kind: str) -> Tensor:
    held = optimizer.state.get(p, {}).get(kind)
    return p.new_zeros(p.shape) if held is None else held.detach().clone()


def _back(
    s: dict[str, Any],
    theta: Tensor,
    G: Tensor,
    m: Tensor,
    v: Tensor,
    d_theta: Tensor,
    dm: Tensor | None,
    dv: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """One tensor's dθ, dm, dv and dG."""
    (b1, b2), lr, t, decay = s["betas"], s["lr"], s["t"], s["weight_decay"]
    c1, c2 = 1 - b1**t, 1 - b2**t
    coupled = decay and not s["decoupled"]
    g = -G if s["maximize"] else G
    g = g + decay * theta if coupled else g
    m = b1 * m + (1 - b1) * g
    root = (b2 * v + (1 - b2) * g * g).sqrt()  # √v'
    D = root / c2**0.5 + s["eps"]
    dm = (0 if dm is None else dm) - (lr / c1) * d_theta / D
    slope = (lr / c1) * m * d_theta / (2 * D * D * c2**0.5 * root)
    dv = (0 if dv is None else dv) + slope.where(root > 0, root.new_zeros(()))
    dg = (1 - b1) * dm + 2 * (1 - b2) * g * dv
    d_theta = d_theta * (1 - lr * decay) if s["decoupled"] else d_theta
    d_theta = d_theta + decay * dg if coupled else d_theta
    return d_theta, b1 * dm, b2 * dv, -dg if s["maximize"] else dg
