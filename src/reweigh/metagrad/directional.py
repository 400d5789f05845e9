r"""Derivatives of one recorded pass along a direction u = dg in θ's space.

With $g = \partial(w^\top \ell)/\partial\theta$ a pass contributes two things to the recursion:

- $H u = \partial(g^\top u)/\partial\theta$, which moves dθ back over the step, and
- $s = \partial(g^\top u)/\partial w$, that is $s_k = \partial\ell_k/\partial\theta \cdot u$: the
  change of each sample's loss along u. The teacher's gradient is then $\partial(\tilde w(\omega)^\top
  s)/\partial\omega$, a tiny backward through the teacher alone, because ∂w/∂θ = 0.

Where a graph was kept both come from one second backward. Without one, s alone is a forward-mode
pass (JVP), and H u is recomputed. Where the teacher shapes the loss itself (deeper interaction),
the levers are ω and s is $\partial(g^\top u)/\partial\omega$.
"""

from dataclasses import dataclass
from functools import partial

import torch
import torch.autograd.forward_ad as dual
from torch import Tensor

from reweigh.distributed.buckets import arriving, summed
from reweigh.metagrad import half
from reweigh.metagrad.guards import check_reaches_parameters
from reweigh.metagrad.kernels import Kernels
from reweigh.metagrad.lean.wanted import Wanted
from reweigh.metagrad.steps import Graph, Pass, leaves_of
from reweigh.student.moment import Moment
from reweigh.student.seen import Seen
from reweigh.student.student import Student
from reweigh.teachers.base import Teacher, learned_by, objective
from reweigh.typing import Params


@dataclass(frozen=True)
class Pulled:
    """What one pass gives back for a direction u."""

    levers: list[Tensor]
    """∂(gᵀu)/∂(levers): s, (n,), or one tensor per parameter of the teacher."""
    theta: Params | None
    """H u by name, where it was wanted: of the pass as a whole, over all processes."""

    def tensors(self) -> list[Tensor]:
        """All of it."""
        return [*self.levers, *(self.theta or {}).values()]

    def over(self, scale: float) -> "Pulled":
        """For u / scale."""
        theta = self.theta and {k: half.times(1 / scale, d) for k, d in self.theta.items()}
        return Pulled([half.times(1 / scale, d) for d in self.levers], theta)


class Derivatives:
    """Exact derivatives of recorded passes, by the cheapest way that the kernels allow."""

    def __init__(self, student: Student, teacher: Teacher, *, deeper: bool) -> None:
        self.student = student
        self.teacher = teacher
        self.deeper = deeper
        self.kernels = Kernels()
        self.in_float16 = False
        """Whether layers compute in float16 under an autocast of their own."""

    def vanishing(self, moment: Moment) -> bool:
        """Whether what is linear in a pass of that moment must be scaled (`half.py`)."""
        return self.in_float16 or moment.in_float16

    def levers(self, weights: Tensor | None) -> list[Tensor]:
        """What ω acts through: the weights of the batch, or its own parameters."""
        if weights is None:
            return list(learned_by(self.teacher).values())
        return [weights.detach().clone().requires_grad_()]

    def graph(
        self, seen: Seen, theta: Params, levers: list[Tensor], wanted: Wanted, moment: Moment
    ) -> Graph:
        """The graph of g(θ, levers), given a pass whose losses depend on the leaves `theta`."""
        value = objective(self.teacher, seen) if self.deeper else _weighted(seen.losses, levers[0])
        build = partial(_graph, value, theta, levers, wanted)
        if not self.vanishing(moment):
            return build(1.0)
        first = half.loss_scale(value)
        return half.at_largest(first, build, lambda graph: graph.gradient.values())

    def gradient(self, one: Pass, theta: Params) -> Params:
        """g at θ, for rules or clipping that want it; its graph stays for the `pull` that follows."""
        one.graph = self._graph_of(one, theta)
        return {k: d.detach() for k, d in one.graph.gradient.items()}

    def first_gradient(self, one: Pass, theta: Params, weights: Tensor) -> Params:
        """∂(weightsᵀℓ)/∂θ of what θ reaches, by an ordinary backward that leaves no graph."""
        find = partial(self._first_gradient, one, theta, weights)
        if not self.vanishing(one.moment):
            return find(1.0)
        first = half.loss_scale(_weighted(one.seen.losses, weights))
        return half.at_largest(first, find, lambda g: g.values())

    def _first_gradient(self, one: Pass, theta: Params, weights: Tensor, scale: float) -> Params:
        leaves = leaves_of(theta)
        with (
            one.moment.again(self.student.module),
            self.student.at(leaves, one.moment.fresh_buffers()),
            self.kernels.first_order(),
        ):
            # not autograd.grad, which reentrant checkpointing refuses
            half.times(scale, _weighted(self._losses_of(one), weights)).backward()
        return {k: half.times(1 / scale, p.grad) for k, p in leaves.items() if p.grad is not None}

    def pull(self, one: Pass, theta: Params, u: Params, *, want_theta: bool, keep: bool) -> Pulled:
        """H u (if wanted) and s of a pass at θ; `keep` leaves a kept graph usable again."""
        one.check_batch()
        find = partial(self._pull, one, theta, want_theta=want_theta, keep=keep)
        if not self.vanishing(one.moment):
            return find(u)

        def at(scale: float) -> Pulled:
            return find({name: scale * d for name, d in u.items()}).over(scale)

        return half.at_largest(half.direction_scale(u, theta), at, Pulled.tensors)

    def _pull(self, one: Pass, theta: Params, u: Params, *, want_theta: bool, keep: bool) -> Pulled:
        by_dual = self.kernels.forward_mode and not self.deeper and not one.kept
        if one.graph is None and not want_theta and by_dual:
            return Pulled([self._slopes(one, theta, u)], None)
        graph = self._graph_of(one, theta)
        keep = keep and one.kept
        pulled = self._second_backward(one, graph, u, want_theta, keep)
        one.graph = graph if keep else None
        return pulled

    def _graph_of(self, one: Pass, theta: Params) -> Graph:
        """The kept graph, or the pass done again at θ as it was done."""
        if one.graph is not None:
            return one.graph
        one.check_batch()
        leaves = leaves_of(theta)
        wanted = Wanted()
        with (
            one.moment.again(self.student.module),
            self.student.at(leaves, one.moment.fresh_buffers()),
            self.kernels.second_order(wanted),
        ):
            seen = self.student.look(one.batch, one.seen.known)
            return self.graph(seen, leaves, self.levers(one.weights), wanted, one.moment)

    def _second_backward(
        self, one: Pass, graph: Graph, u: Params, want_theta: bool, keep: bool
    ) -> Pulled:
        """One backward through g; the student stands at θ for what is recomputed on the way."""
        names = [name for name in graph.gradient if name in u]
        inputs = graph.levers + (list(graph.theta.values()) if want_theta else [])
        graph.wanted.theta = want_theta or self.deeper
        with (
            one.moment.again(self.student.module),
            self.student.at(graph.theta, one.moment.fresh_buffers()),
            self.kernels.first_order(),  # of what a checkpoint recomputes
            arriving(graph.theta if want_theta else {}) as whole,
        ):
            found = torch.autograd.grad(
                [graph.gradient[name] for name in names],
                inputs,
                [half.times(graph.scale, u[name]) for name in names],
                retain_graph=keep,
                allow_unused=True,
            )
        if self.deeper:
            check_reaches_parameters(found[: len(graph.levers)])
        found = [
            torch.zeros_like(i) if d is None else d for i, d in zip(inputs, found, strict=True)
        ]
        levers, theta = found[: len(graph.levers)], found[len(graph.levers) :]
        moved = whole(dict(zip(graph.theta, theta, strict=True))) if want_theta else None
        return Pulled(levers, moved).over(graph.scale)

    def _losses_of(self, one: Pass) -> Tensor:
        """Those of a pass that is done again, (n,)."""
        return self.student.losses(one.batch, one.seen.known)

    def _slopes(self, one: Pass, theta: Params, u: Params) -> Tensor:
        """s by one forward-mode pass: the tangent of the loss vector along u, (n,)."""
        with torch.no_grad(), dual.dual_level():
            at = {k: along(t, u[k]) if k in u else t for k, t in theta.items()}
            with (
                one.moment.again(self.student.module),
                self.student.at(at, one.moment.fresh_buffers()),
                self.kernels.first_order(),
            ):
                losses = self._losses_of(one)
            tangent = dual.unpack_dual(losses).tangent
        return torch.zeros_like(losses) if tangent is None else tangent


def along(t: Tensor, u: Tensor) -> Tensor:
    """t with the tangent u, both in memory of their own size.

    torch gives a tangent the size of the whole storage that t lies in. A snapshot is one storage,
    so the tangents of its parts would be as many copies of all of θ.
    """
    return dual.make_dual(t.detach().clone(), u.contiguous())


def _graph(
    value: Tensor, theta: Params, levers: list[Tensor], wanted: Wanted, scale: float
) -> Graph:
    """That of g = ∂(S·value)/∂θ / S."""
    leaves = list(theta.values())
    g = torch.autograd.grad(half.times(scale, value), leaves, create_graph=True, allow_unused=True)
    used = {k: half.times(1 / scale, d) for k, d in zip(theta, g, strict=True) if d is not None}
    return Graph(theta, levers, used, wanted, scale)


def _weighted(losses: Tensor, weights: Tensor) -> Tensor:
    return (weights.to(losses.dtype) * losses).sum()


class FiniteDifferences(Derivatives):
    r"""The labelled fallback: central differences of losses and gradients along u.

    $s \approx [\ell(\theta + cu) - \ell(\theta - cu)] / 2c$, good to about 2e-4; H u likewise from
    gradients, which with ReLU does not converge as c falls. For kernels without the derivatives.
    """

    def pull(self, one: Pass, theta: Params, u: Params, *, want_theta: bool, keep: bool) -> Pulled:
        """As `Derivatives.pull`, approximately: two passes (and two backwards for H u)."""
        double = next(iter(u.values())).dtype == torch.float64
        size = torch.nn.utils.get_total_norm(u.values()).clamp_min(1e-38)
        c = (1e-6 if double else 0.01) / size

        def at(sign: float) -> Params:
            return {k: t + sign * c * u[k] if k in u else t for k, t in theta.items()}

        high, low = self._losses(one, at(+1.0)), self._losses(one, at(-1.0))
        hvp = None
        if want_theta:
            up, down = self.gradient(one, at(+1.0)), self.gradient(one, at(-1.0))
            hvp = {k: (up[k] - down[k]) / (2 * c) if k in up else theta[k] * 0 for k in theta}
            hvp = summed(hvp)
        return Pulled([(high - low) / (2 * c)], hvp)

    def gradient(self, one: Pass, theta: Params) -> Params:
        """g at θ by a first-order pass with whatever kernels are there."""
        assert one.weights is not None
        return self.first_gradient(one, theta, one.weights)

    @torch.no_grad()
    def _losses(self, one: Pass, theta: Params) -> Tensor:
        one.check_batch()
        with (
            one.moment.again(self.student.module),
            self.student.at(theta, one.moment.fresh_buffers()),
        ):
            return self._losses_of(one)
