r"""Learning *before* the step, through one virtual step of plain SGD on the same batch.

The way of Learning to Reweight (Ren et al., 2018) and Meta-Weight-Net (Shu et al., 2019):
$\hat\theta(w) = \theta - \eta\, \partial(w^\top \ell)/\partial\theta$ with the optimizer's present η,
without momentum or decay, and the slopes $\partial M(\hat\theta)/\partial w_k = -\eta\,
\partial\ell_k/\partial\theta \cdot \partial M/\partial\hat\theta$. The student does not move.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from reweigh.distributed.buckets import summed, summed_list
from reweigh.metagrad.engine import Engine
from reweigh.metagrad.lean.wanted import Wanted
from reweigh.metagrad.steps import Pass, leaves_of
from reweigh.student.moment import Moment
from reweigh.student.seen import Known, Seen
from reweigh.teachers.base import normalised, weigh
from reweigh.typing import Batch, Params


@dataclass(frozen=True)
class Lookahead:
    """One batch that is about to be learned from, and one trusted batch to judge it by."""

    engine: Engine
    batch: Batch
    trusted: Batch
    known: Known
    """Of the batch."""
    move_teacher: Callable[[list[Tensor]], None]

    def teach(self) -> None:
        """Move the teacher along −∂M(θ̂)/∂ω."""
        self.move_teacher(self.gradient())

    def slopes_at_zero(self) -> Tensor:
        """∂M/∂w at w = 0, (n,): the virtual step leads nowhere, so one forward-mode pass does."""
        engine, moment = self.engine, Moment.now(self.engine.student.module)
        theta = engine.theta()
        u = self._scaled(engine.trusted_gradient(self.trusted, theta))
        seen = engine.student.peek(self.batch, self.known, moment)
        one = Pass(self.batch, moment, seen, torch.zeros_like(seen.losses))
        return engine.derivatives.pull(one, theta, u, want_theta=False, keep=False).levers[0]

    @torch.enable_grad()
    def gradient(self) -> list[Tensor]:
        r"""∂M(θ̂)/∂ω with $w = \phi(\cdot\,; \omega)$, one tensor per parameter of the teacher."""
        engine, theta = self.engine, self.engine.theta()
        one = self._weighed_pass(theta)
        assert one.graph is not None
        u = self._scaled(
            engine.trusted_gradient(self.trusted, self._moved(theta, one.graph.gradient))
        )
        slopes = engine.derivatives.pull(one, theta, u, want_theta=False, keep=False)
        return summed_list(engine.recursion.through_teacher([one], slopes.levers))

    def _weighed_pass(self, theta: Params) -> Pass:
        """The batch under the present teacher's weights, with the graph of its gradient."""
        engine, wanted = self.engine, Wanted()
        moment = Moment.now(engine.student.module)
        leaves = leaves_of(theta)
        with (
            moment.again(engine.student.module),
            engine.student.at(leaves, moment.fresh_buffers()),
            engine.derivatives.kernels.second_order(wanted),
        ):
            seen = engine.student.look(self.batch, self.known)
            one = Pass(self.batch, moment, seen.detached(), self._weights(seen))
            levers = engine.derivatives.levers(one.weights)
            one.graph = engine.derivatives.graph(seen, leaves, levers, wanted, moment)
        return one

    @torch.no_grad()
    def _weights(self, seen: Seen) -> Tensor:
        teacher = self.engine.derivatives.teacher
        return normalised(weigh(teacher, seen.detached()), teacher.normalise)

    def _moved(self, theta: Params, gradient: Params) -> Params:
        """θ̂."""
        rates = self.engine.rates()
        zero = torch.zeros_like  # other processes may use a parameter that this one does not
        own = {k: gradient[k].detach() if k in gradient else zero(t) for k, t in theta.items()}
        whole = summed(own)
        return {name: t - rates[name] * whole[name] for name, t in theta.items()}

    def _scaled(self, d_theta: Params) -> Params:
        """−η ∂M/∂θ̂, each parameter with its group's present rate."""
        rates = self.engine.rates()
        return {name: -rates[name] * d for name, d in d_theta.items()}
