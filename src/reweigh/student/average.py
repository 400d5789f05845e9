r"""The student's running average, to look through: $\bar\theta \leftarrow d\bar\theta + (1 - d)\theta$.

A student that takes long steps is right about a sample in one step and wrong in the next. Its average
over the last $1/(1-d)$ steps is calmer and nearer to where training goes, so that what a teacher
concludes from its answers is better (Tarvainen and Valpola 2017 take such an average's answers as
targets). It must not be long: from what it has not learned yet it holds the student back.

It answers in the student's own mode, but without dropout layers, and normalises by the batch where the
student does: running statistics are those of other parameters than its own. It costs a forward pass
without gradient and one copy of what is trained, and leaves no trace. Beyond the paper.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.parameter import is_lazy

from reweigh.student.anatomy import modules_of
from reweigh.student.batch import moved_to
from reweigh.student.moment import rng_unmoved
from reweigh.student.seen import States
from reweigh.student.student import Student
from reweigh.typing import Batch, Params

START = 10
"""The first averages are short: after t steps d is at most (1 + t) / (START + t). Our choice."""


class Average:
    """θ̄, begun from the student as it is when first asked."""

    def __init__(
        self,
        student: Student,
        decay: float,
        answers: Callable[[nn.Module, Batch], Tensor | None],
    ) -> None:
        self.student, self.decay, self._answers = student, decay, answers
        self.held: Params = {}
        """θ̄ by name, in float32 at least: a sum in bfloat16 would stop moving."""

    @torch.no_grad()
    def look(self, batch: Batch, *, begins: bool = True) -> States:
        """What stands at the student's taps when θ̄ answers, by their keys, (n, d) each.

        A look `begins` the average where there is none yet, or takes θ for it and leaves no trace.
        """
        now, module = self.now(), self.student.module
        average = self._fitting(now)
        if begins:
            self.held = average
        theta = {name: held.to(now[name].dtype) for name, held in average.items()}
        with rng_unmoved(module), _calm(module) as written, self.student.at(theta, written):
            return self.student.states(batch, self._answers)

    @torch.no_grad()
    def follow(self, steps: int) -> None:
        """The student has taken its step number `steps`."""
        if not self.held:
            return
        now = self.now()
        self.held = self._fitting(now)
        rate = 1 - min(self.decay, (1 + steps) / (START + steps))
        held = list(self.held.values())  # in the order of `now`
        new = [t.to(h.dtype) for t, h in zip(now.values(), held, strict=True)]
        torch._foreach_lerp_(held, new, rate)  # pyright: ignore[reportPrivateImportUsage] (as torch.optim does it)

    def begin_again_if_broken(self) -> None:
        """After a step that failed: an average of what is not finite would never be finite again."""
        if not all(bool(t.isfinite().all()) for t in self.held.values()):
            self.held = {}

    def state_dict(self) -> Params:
        """A copy of θ̄; empty before the first look."""
        return {name: t.clone() for name, t in self.held.items()}

    def load_state_dict(self, state: Params, device: torch.device) -> None:
        """Go on from another one's."""
        self.held = {name: t.clone() for name, t in moved_to(state, device).items()}

    def _fitting(self, now: Params) -> Params:
        """θ̄ for θ as it is `now`, which it begins from: all of it at first, later what is new."""
        old = self.held
        return {n: old[n] if _fits(old.get(n), t) else _copied(t) for n, t in now.items()}

    def now(self) -> Params:
        """θ, as it is. What is frozen needs no average."""
        places = self.student.anatomy.places()
        named = ((name, home[key]) for home, key, name, is_parameter in places if is_parameter)
        return {n: p.detach() for n, p in named if p is not None and _is_trained(p)}


def _is_trained(p: Tensor) -> bool:
    return p.requires_grad and not is_lazy(p)


def _copied(t: Tensor) -> Tensor:
    return t.to(torch.promote_types(t.dtype, torch.float32), copy=True)


def _fits(held: Tensor | None, t: Tensor) -> bool:
    wanted = torch.promote_types(t.dtype, torch.float32)
    return held is not None and (held.shape, held.dtype, held.device) == (t.shape, wanted, t.device)


@contextmanager
def _calm(module: nn.Module) -> Iterator[Params]:
    """Dropout layers are off and running statistics stand still; gives copies of all other buffers."""
    layers = modules_of(module)
    drops = [m for m in layers if isinstance(m, _DropoutNd) and m.training]
    norms = [m for m in layers if isinstance(m, _NormBase)]
    still = {id(b) for norm in norms for b in norm._buffers.values()}
    norms = [m for m in norms if m.training and m.track_running_stats]
    try:
        for drop in drops:
            drop.training = False
        for norm in norms:
            norm.track_running_stats = False
        others = any(
            id(b) not in still for m in layers for b in m._buffers.values() if b is not None
        )
        named = module.named_buffers() if others else ()
        yield {name: b.clone() for name, b in named if id(b) not in still}
    finally:
        for drop in drops:
            drop.training = True
        for norm in norms:
            norm.track_running_stats = True
