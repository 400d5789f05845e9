"""The reference: training unrolled under autograd, with every update written out differentiably.

Nothing of `reweigh.metagrad` is used here. The teacher's `forward` is the only thing shared with
the package; it is fed from hooks of this file's own. `test_brute_force.py` holds the updates against
`torch.optim`, step by step.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call
from torch.optim import Optimizer

from reweigh import Seen, Teacher
from reweigh.student.seen import Progress

Tensors = dict[str, Tensor]

RULES: dict[str, Callable[[Any], Optimizer]] = {
    "sgd": lambda p: torch.optim.SGD(p, 0.2),
    "sgd+decay": lambda p: torch.optim.SGD(p, 0.2, weight_decay=0.1),
    "momentum": lambda p: torch.optim.SGD(p, 0.2, momentum=0.9),
    "momentum+decay+maximize": lambda p: torch.optim.SGD(
        p, 0.02, momentum=0.9, weight_decay=0.1, maximize=True
    ),
    "nesterov+decay": lambda p: torch.optim.SGD(
        p, 0.2, momentum=0.9, nesterov=True, weight_decay=0.1
    ),
    "dampening+decay": lambda p: torch.optim.SGD(
        p, 0.2, momentum=0.9, dampening=0.3, weight_decay=0.1
    ),
    "adam": lambda p: torch.optim.Adam(p, 0.02, betas=(0.8, 0.9)),
    "adam+decay": lambda p: torch.optim.Adam(p, 0.02, betas=(0.8, 0.9), weight_decay=0.1, eps=1e-2),
    "adamw": lambda p: torch.optim.AdamW(p, 0.02, betas=(0.8, 0.9), weight_decay=0.1),
    "adamw+maximize": lambda p: torch.optim.AdamW(p, 0.002, weight_decay=0.1, maximize=True),
}
"""An optimizer of each kind, given parameters or groups.

Coupled decay has a large ε: where a gradient is 0 but for rounding (the key bias of attention), Adam
would blow the rounding up by ηλ/ε a step, in both systems, differently.
"""


def updated(
    kind: str, s: dict[str, Any], theta: Tensor, g: Tensor, state: Tensors
) -> tuple[Tensor, Tensors]:
    """One tensor's next value and state, differentiably; `s` is its group's settings."""
    g = -g if s["maximize"] else g
    return (_sgd if kind == "SGD" else _adam)(kind, s, theta, g, state)


def _sgd(
    kind: str, s: dict[str, Any], theta: Tensor, g: Tensor, state: Tensors
) -> tuple[Tensor, Tensors]:
    g = g + s["weight_decay"] * theta
    if s["momentum"] == 0:
        return theta - s["lr"] * g, {}
    v = s["momentum"] * state["v"] + (1 - s["dampening"]) * g if "v" in state else g
    moved = g + s["momentum"] * v if s["nesterov"] else v
    return theta - s["lr"] * moved, {"v": v}


def _adam(
    kind: str, s: dict[str, Any], theta: Tensor, g: Tensor, state: Tensors
) -> tuple[Tensor, Tensors]:
    (b1, b2), lr = s["betas"], s["lr"]
    if kind == "AdamW":
        theta = theta - lr * s["weight_decay"] * theta
    else:
        g = g + s["weight_decay"] * theta
    zero = torch.zeros_like(theta)
    t = state.get("t", torch.zeros((), dtype=torch.float64)) + 1
    m = b1 * state.get("m", zero) + (1 - b1) * g
    v = b2 * state.get("v", zero) + (1 - b2) * g * g
    m_hat, v_hat = m / (1 - b1 ** float(t)), v / (1 - b2 ** float(t))
    return theta - lr * m_hat / (_root(v_hat) + s["eps"]), {"m": m, "v": v, "t": t}


def _root(v: Tensor) -> Tensor:
    """√v whose derivative at 0 is 0 (it meets m = 0 there; autograd would make NaN of 0·∞)."""
    some = v > 0
    return torch.where(some, torch.where(some, v, 1.0).sqrt(), 0.0)


@dataclass
class Unrolled:
    """Training under autograd: θ_t is a function of ω through the last `through` steps."""

    student: nn.Module
    optimizer: Optimizer
    teacher: Teacher
    through: int
    clip_norm: float | None = None
    accumulate: int = 1
    deeper: bool = False
    total_steps: int | None = None
    autocast: torch.dtype | None = None
    schedule: Callable[[int], float] = lambda step: 1.0
    training_loss: Callable[..., Tensor] = lambda z, y: F.cross_entropy(z, y, reduction="none")
    """Of logits and labels, and of the average student's logits where there is one; trusted samples
    have cross-entropy."""
    theta: Tensors = field(default_factory=dict)
    visited: list[Tensors] = field(default_factory=list)

    def __post_init__(self) -> None:
        names = {p: n for n, p in self.student.named_parameters()}
        self.settings: dict[str, dict[str, Any]] = {}
        for group in self.optimizer.param_groups:
            for p in group["params"]:
                if p.requires_grad:
                    self.theta[names[p]] = p.detach().clone().requires_grad_()
                    self.settings[names[p]] = {k: v for k, v in group.items() if k != "params"}
        self.state: dict[str, Tensors] = {name: {} for name in self.theta}
        self.buffers = {n: b.clone() for n, b in self.student.named_buffers()}
        self.losses_seen: list[Tensor] = []
        self.mean = {n: t.detach().clone() for n, t in (self.theta | self.buffers).items()}

    def run(self, batches: Iterable[tuple[Tensor, Tensor]], trusted: tuple[Tensor, Tensor]):
        """∂(mean trusted loss)/∂ω by autograd over all of it, by name."""
        batches = list(batches)
        size = self.accumulate
        steps = [batches[k : k + size] for k in range(0, len(batches), size)]
        for t, passes in enumerate(steps):
            if t == len(steps) - self.through:
                self._cut()
            self._step(t, passes)
            self._follow(t + 1)
            self.visited.append({n: p.detach() for n, p in self.theta.items()})
        return self.meta_gradient(trusted)

    def meta_gradient(self, trusted: tuple[Tensor, Tensor]) -> Tensors:
        """The last backward."""
        omega = dict(self.teacher.named_parameters())
        value = self._measure(trusted)
        found = torch.autograd.grad(
            value,
            list(omega.values()),
            retain_graph=True,
            allow_unused=True,
            materialize_grads=True,
        )
        return dict(zip(omega, found, strict=True))

    def _cut(self) -> None:
        """Before the window: a constant."""
        self.theta = {n: t.detach().requires_grad_() for n, t in self.theta.items()}
        self.state = {n: {k: v.detach() for k, v in held.items()} for n, held in self.state.items()}

    def _step(self, t: int, passes: list[tuple[Tensor, Tensor]]) -> None:
        seen = [self._look(batch, steps=t) for batch in passes]
        losses = torch.cat([one.losses for one in seen])
        raw = torch.cat([self.teacher(one if self.deeper else one.detached()) for one in seen])
        z = raw.sum() if self.teacher.normalise == "sum" else len(raw)
        value = (raw / z * losses).sum()
        names = list(self.theta)
        found = torch.autograd.grad(
            value, [self.theta[n] for n in names], create_graph=True, allow_unused=True
        )
        self._update(t, {n: g for n, g in zip(names, found, strict=True) if g is not None})

    def _update(self, t: int, gradient: Tensors) -> None:
        if self.clip_norm is not None:
            norm = torch.cat([g.flatten() for g in gradient.values()]).square().sum().sqrt()
            factor = (self.clip_norm / (norm + 1e-6)).clamp(max=1)
            gradient = {n: factor * g for n, g in gradient.items()}
        for n, g in gradient.items():
            s = self.settings[n] | {"lr": self.settings[n]["lr"] * self.schedule(t)}
            kind = type(self.optimizer).__name__
            self.theta[n], self.state[n] = updated(kind, s, self.theta[n], g, self.state[n])

    def _follow(self, steps: int) -> None:
        """The average of the student, a constant to everybody."""
        stays = min(self.teacher.average, (1 + steps) / (10 + steps))
        for n, t in (self.theta | self.buffers).items():
            now = t.detach()
            kept = stays * self.mean[n] + (1 - stays) * now
            self.mean[n] = kept if now.is_floating_point() else now.clone()

    def _calm(self, x: Tensor) -> list[Tensor]:
        """The average student's logits: the batch's statistics, but no dropout."""
        if not self.teacher.average:
            return []
        drops = [m for m in self.student.modules() if isinstance(m, nn.Dropout) and m.training]
        held = {n: t.clone() for n, t in self.mean.items()}
        for drop in drops:
            drop.eval()
        with torch.no_grad():
            answer = functional_call(self.student, held, (x,))
        for drop in drops:
            drop.train()
        return [answer]

    def _look(self, batch: tuple[Tensor, Tensor], steps: int) -> Seen:
        """The pass as a loop would do it, with hooks that read what the teacher looks at."""
        calm = self._calm(batch[0])
        states: Tensors = {}
        layers = dict(self.student.named_modules())
        handles = [
            layers[tap.layer].register_forward_hook(_reader(states, tap.key, tap.side))
            for tap in self.teacher.taps
        ]
        with self._cast():
            losses = self.training_loss(self._answer(batch[0]), batch[1], *calm)
        for handle in handles:
            handle.remove()
        done = steps / self.total_steps if self.total_steps else 0.0
        mean = torch.stack(self.losses_seen).mean() if self.losses_seen else torch.zeros(())
        self.losses_seen.append(losses.detach().mean())
        average = {self.teacher.taps[0].key: calm[0]} if calm else None
        return Seen(losses, batch[1], states, Progress(done, mean, 0.0), average=average)

    def _measure(self, trusted: tuple[Tensor, Tensor]) -> Tensor:
        with self._cast():
            return F.cross_entropy(self._answer(trusted[0]), trusted[1])

    def _answer(self, x: Tensor) -> Tensor:
        return functional_call(self.student, {**self.theta, **self.buffers}, (x,))

    def _cast(self) -> AbstractContextManager[None]:
        return torch.autocast("cpu", self.autocast) if self.autocast else nullcontext()


def _reader(states: Tensors, key: str, side: str) -> Callable[..., None]:
    def read(layer: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> None:
        value = args[0] if side == "input" else output
        states[key] = value.flatten(2).mean(2) if value.ndim == 4 else value  # (n, d)

    return read


def relative_error(found: Tensors, expected: Tensors) -> float:
    """‖found − expected‖ / ‖expected‖ over all tensors together."""
    assert found.keys() == expected.keys()
    off = sum(float((found[n].double() - expected[n].double()).square().sum()) for n in expected)
    size = sum(float(e.double().square().sum()) for e in expected.values())
    return (off / size) ** 0.5
