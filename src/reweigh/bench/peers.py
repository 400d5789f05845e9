"""Other ways to the same meta-gradient: unrolled autograd, two libraries, Algorithm 1 to the letter.

Each is used as its own documentation shows. Attention runs with the MATH kernel wherever a second
derivative is taken, because with the fused one none of them would work at all.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.func import functional_call
from torch.nn.attention import SDPBackend, sdpa_kernel

from reweigh.bench.subjects import DECAY, MOMENTUM, RATE, Labelled, Subject
from reweigh.bench.systems import System
from reweigh.student.seen import Progress, Seen
from reweigh.teachers.base import normalised
from reweigh.typing import Params

Model = Callable[[Tensor], tuple[Tensor, Tensor]]


class Peer(System):
    """What the peers share: the weighted loss, the trusted loss, the teacher's step."""

    def weighted_loss(self, model: Model, batch: Labelled) -> Tensor:
        """w̃(ω)ᵀℓ, alive in ω and, through ℓ only, in θ."""
        logits, features = model(batch[0])
        losses = F.cross_entropy(logits, batch[1], reduction="none")  # (n,)
        states = {"fc:input": features.detach()}
        w = self.teacher(Seen(losses.detach(), batch[1], states, Progress()))  # (n,)
        return (normalised(w, self.teacher.normalise) * losses).sum()

    def trusted_loss(self, model: Model, trusted: Labelled) -> Tensor:
        """The mean loss of the trusted batch."""
        return F.cross_entropy(model(trusted[0])[0], trusted[1])

    def teach(self, gradient: Sequence[Tensor]) -> list[Tensor]:
        """Move the teacher, and hand the gradient on."""
        for p, d in zip(self.omega, gradient, strict=True):
            p.grad = d
        self.teacher_optimizer.step()
        self.teacher_optimizer.zero_grad(set_to_none=True)
        return list(gradient)

    def at(self, theta: Params, buffers: Params | None = None) -> Model:
        """The student as a function at θ."""
        values = theta | (buffers or {})
        return lambda x: functional_call(self.student, values, (x,))


class Unrolled(Peer):
    """By hand: `functional_call`, `create_graph`, one backward through everything."""

    keeps_graphs = True

    def __init__(self, subject: Subject, through: int) -> None:
        super().__init__(subject, through)
        self.velocity: Params = {}

    def cycle(self, batches: Sequence[Labelled], trusted: Labelled) -> list[Tensor]:
        """v' = μ v + g + λ θ, θ' = θ − η v', out of place."""
        own = dict(self.student.named_parameters())
        theta = {k: p.detach().clone().requires_grad_() for k, p in own.items()}
        with sdpa_kernel(SDPBackend.MATH):
            for batch in batches:
                theta = self._step(theta, batch)
            loss = self.trusted_loss(self.at(theta), trusted)
            found = torch.autograd.grad(loss, self.omega)
        self.velocity = {k: v.detach() for k, v in self.velocity.items()}
        with torch.no_grad():
            for k, p in own.items():
                p.copy_(theta[k])
        return self.teach(found)

    def _step(self, theta: Params, batch: Labelled) -> Params:
        loss = self.weighted_loss(self.at(theta), batch)
        g = torch.autograd.grad(loss, list(theta.values()), create_graph=True)
        forced = {k: d + DECAY * theta[k] for k, d in zip(theta, g, strict=True)}
        old = self.velocity
        self.velocity = {k: MOMENTUM * old[k] + d if old else d for k, d in forced.items()}
        return {k: t - RATE * self.velocity[k] for k, t in theta.items()}


class Higher(Peer):
    """`higher.innerloop_ctx` around the student and its torch optimizer."""

    needs = "higher"
    keeps_graphs = True

    def __init__(self, subject: Subject, through: int) -> None:
        super().__init__(subject, through)
        import higher  # pyright: ignore[reportMissingImports] (an extra)

        self._context: Any = higher.innerloop_ctx

    def cycle(self, batches: Sequence[Labelled], trusted: Labelled) -> list[Tensor]:
        """`diffopt.step(loss)` B times, a backward, and the fast weights back into the student."""
        with (
            sdpa_kernel(SDPBackend.MATH),
            self._context(self.student, self.optimizer, copy_initial_weights=True) as (fast, steps),
        ):
            for batch in batches:
                steps.step(self.weighted_loss(fast, batch))
            loss = self.trusted_loss(fast, trusted)
            found = torch.autograd.grad(loss, self.omega)
            self._write_back(list(fast.parameters()), steps.state[0])
        return self.teach(found)

    def _write_back(self, fast: list[Tensor], state: dict[int, dict[str, Tensor]]) -> None:
        with torch.no_grad():
            for i, p in enumerate(self.student.parameters()):
                p.copy_(fast[i])
                self.optimizer.state[p]["momentum_buffer"] = state[i]["momentum_buffer"].detach()


class TorchOpt(Peer):
    """`torchopt.MetaSGD` on the student, cut from its past after each update."""

    needs = "torchopt"
    keeps_graphs = True

    def __init__(self, subject: Subject, through: int) -> None:
        super().__init__(subject, through)
        import torchopt  # pyright: ignore[reportMissingImports] (an extra)

        self._stop_gradient: Any = torchopt.stop_gradient
        self._steps: Any = torchopt.MetaSGD(
            self.student, RATE, momentum=MOMENTUM, weight_decay=DECAY
        )

    def cycle(self, batches: Sequence[Labelled], trusted: Labelled) -> list[Tensor]:
        """`MetaSGD.step(loss)` B times, a backward, `stop_gradient`."""
        with sdpa_kernel(SDPBackend.MATH):
            for batch in batches:
                self._steps.step(self.weighted_loss(self.student, batch))
            loss = self.trusted_loss(self.student, trusted)
            found = torch.autograd.grad(loss, self.omega)
        self._stop_gradient(self.student)
        self._stop_gradient(self._steps)
        return self.teach(found)


class AlgorithmOne(Peer):
    """The paper's Algorithm 1 to the letter, with η's index put right.

    Steps are undone by reversal; in each, g is built with `create_graph` and differentiated twice,
    once for dω and once for dθ, whether or not dθ is still needed.
    """

    def cycle(self, batches: Sequence[Labelled], trusted: Labelled) -> list[Tensor]:
        """B ordinary weighted steps, then the reversal over them."""
        for batch in batches:
            self.optimizer.zero_grad(set_to_none=True)
            self.weighted_loss(self.student, batch).backward()
            self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.teacher_optimizer.zero_grad(set_to_none=True)
        return self.teach(self._back_over(batches, trusted))

    def _back_over(self, batches: Sequence[Labelled], trusted: Labelled) -> list[Tensor]:
        own = dict(self.student.named_parameters())
        buffers = {k: b.clone() for k, b in self.student.named_buffers()}
        theta = {k: p.detach().clone().requires_grad_() for k, p in own.items()}
        v = {k: self.optimizer.state[p]["momentum_buffer"] for k, p in own.items()}
        loss = self.trusted_loss(self.at(theta, buffers), trusted)
        d_theta = dict(zip(theta, torch.autograd.grad(loss, list(theta.values())), strict=True))
        dv = {k: torch.zeros_like(t) for k, t in v.items()}
        d_omega = [torch.zeros_like(p) for p in self.omega]
        for batch in reversed(batches):
            dv = {k: dv[k] - RATE * d_theta[k] for k in dv}
            theta = {k: (theta[k] + RATE * v[k]).detach().requires_grad_() for k in theta}
            with sdpa_kernel(SDPBackend.MATH):
                loss = self.weighted_loss(self.at(theta, buffers), batch)
                g = torch.autograd.grad(loss, list(theta.values()), create_graph=True)
            along = list(dv.values())
            more = torch.autograd.grad(g, self.omega, along, retain_graph=True)
            d_omega = [a + b for a, b in zip(d_omega, more, strict=True)]
            hvp = torch.autograd.grad(g, list(theta.values()), along)
            for k, d, h in zip(theta, g, hvp, strict=True):
                d_theta[k] = d_theta[k] + h + DECAY * dv[k]
                v[k] = (v[k] - d.detach() - DECAY * theta[k].detach()) / MOMENTUM
            dv = {k: MOMENTUM * t for k, t in dv.items()}
        return d_omega
