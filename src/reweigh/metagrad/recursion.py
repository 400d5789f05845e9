r"""Algorithm 1: ∂(trusted loss)/∂ω through the recorded steps, from the last one back.

With cotangents dθ, ds of the point after step t (at first dθ = ∂M/∂θ_K, ds = 0):

1. the update rule carries them to the point before the step and gives dG;
2. the clipping gives dg from dG;
3. the passes of the step give $s$ and, unless this is the first recorded step, $H\,dg$, by which
   dθ becomes the full derivative with respect to θ_t.

At the end $d\omega = \sum_t \partial(\tilde w_t(\omega)^\top s_t)/\partial\omega$. The Hessian-vector
product is needed B−1 times, never for the first recorded step.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from reweigh.distributed.buckets import summed, summed_list
from reweigh.metagrad.clipping import Clip
from reweigh.metagrad.directional import Derivatives
from reweigh.metagrad.guards import check_depends_on_parameters, check_same_weights
from reweigh.metagrad.rules import Adjoint, Rule
from reweigh.metagrad.steps import Pass, Step
from reweigh.metagrad.trajectory import Recorded, Reversed
from reweigh.teachers.base import learned_by, normalised, weigh
from reweigh.typing import Params


class Recursion:
    """The way back over recorded steps; everything it needs to know about how they were taken."""

    def __init__(self, derivatives: Derivatives, rule: Rule, clip: Clip | None) -> None:
        self.derivatives = derivatives
        self.rule = rule
        self.clip = clip

    def run(
        self,
        steps: Sequence[Step],
        points: Recorded | Reversed,
        d_theta: Params,
        *,
        keep: bool,
    ) -> list[Tensor]:
        """dω, one tensor per trainable parameter of the teacher."""
        d = Adjoint(dict(d_theta))
        total: list[Tensor] = []
        for t in reversed(range(len(steps))):
            levers = self._back_over(steps[t], points, d, want_theta=t > 0, keep=keep)
            if not self.derivatives.deeper:
                levers = self.through_teacher(steps[t].passes, levers, steps[t].scale)
            total = [a + b for a, b in zip(total, levers, strict=True)] if total else levers
        return summed_list(total)

    def _back_over(
        self,
        step: Step,
        points: Recorded | Reversed,
        d: Adjoint,
        *,
        want_theta: bool,
        keep: bool,
    ) -> list[Tensor]:
        """Carry `d` over one step in place; what it gives the levers, pass by pass."""
        theta = points.theta_before(step)
        needed = self.rule.needs_gradient or self.clip is not None
        needed = needed or (points.needs_gradient and want_theta)
        g = self.gradient(step, theta) if needed else None
        clipped = self.clipped(g)
        d_gradient: Params = {}
        for share in step.shares:
            d_gradient |= self.rule.adjoint(share, theta, clipped, d)
        if self.clip is not None and g is not None:
            d_gradient = self.clip.adjoint(g, d_gradient)
        if want_theta and clipped is not None:
            points.learn(step, clipped)
        return self._pull(step, theta, d_gradient, d, want_theta, keep)

    def _pull(
        self,
        step: Step,
        theta: Params,
        u: Params,
        d: Adjoint,
        want_theta: bool,
        keep: bool,
    ) -> list[Tensor]:
        levers = []
        for one in step.passes:
            pulled = self.derivatives.pull(one, theta, u, want_theta=want_theta, keep=keep)
            levers += pulled.levers
            for name, hvp in (pulled.theta or {}).items():
                d.theta[name] = _plus(d.theta[name], hvp, step.scale)
        return levers

    def gradient(self, step: Step, theta: Params) -> Params:
        """g before clipping: remembered, off a kept graph, or recomputed; 0 where unused."""
        if step.gradient is not None:
            return step.gradient
        total: Params = {
            name: torch.zeros_like(theta[name]) for s in step.shares for name in s.names
        }
        for one in step.passes:
            live = one.graph.gradient if one.graph else self.derivatives.gradient(one, theta)
            for name, g in live.items():
                part = _beside(g, step.scale) * g.detach()
                total[name] = total[name] + part if name in total else part
        return summed(total)

    def clipped(self, g: Params | None) -> Params | None:
        """G as the optimizer got it."""
        return g if g is None or self.clip is None else self.clip.clipped(g)

    def through_teacher(
        self, passes: Sequence[Pass], slopes: Sequence[Tensor], scale: Tensor | float = 1.0
    ) -> list[Tensor]:
        r"""$\partial(\tilde w(\omega)^\top s)/\partial\omega$: a backward through the teacher only.

        Of this process's samples; the normaliser in w̃ is everybody's.
        """
        teacher = self.derivatives.teacher
        w = torch.cat([weigh(teacher, one.seen) for one in passes])  # (n,) of the whole batch
        check_depends_on_parameters(w)
        used = normalised(w, teacher.normalise)
        before = [one.weights for one in passes if one.weights is not None]
        check_same_weights(used.detach(), scale * torch.cat(before))
        value = (used * torch.cat(list(slopes)).to(w.dtype)).sum()
        omega = list(learned_by(teacher).values())
        found = torch.autograd.grad(value, omega, allow_unused=True, materialize_grads=True)
        return list(found)


def _plus(d: Tensor, hvp: Tensor, scale: Tensor | float) -> Tensor:
    """d + scale · hvp, in one pass over memory where the scale is a number."""
    if isinstance(scale, Tensor):
        return d + _beside(hvp, scale) * hvp
    return torch.add(d, hvp, alpha=scale)


def _beside(t: Tensor, scale: Tensor | float) -> Tensor | float:
    """The scale of a step where t is: a student may be on several devices."""
    return scale.to(t.device) if isinstance(scale, Tensor) else scale
