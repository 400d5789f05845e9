"""What is done alike in one process and in several: each check gives values that must not differ.

Every process is given its part of the same whole batches; parts are unequal.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import reweigh
from reweigh.decoding.beam import Beam
from reweigh.distributed import group, sync_batch_norm, traffic
from reweigh.distributed.gathering import own_part_of
from reweigh.errors import DivergedError
from reweigh.methods.l2t_loss import LossShaper
from reweigh.methods.learning_to_reweight import _Slopes
from reweigh.methods.self_paced import SelfPacedTeacher
from reweigh.models.transformer import Transformer
from reweigh.teachers import LossCurveTeacher
from reweigh.text.corpus import Corpus, Ragged
from reweigh.training.translating import held_out_loss, translations

CLASSES, N = 3, 11


class Net(nn.Module):
    """A smooth student; with `norm`, a convolution and batch normalisation in front."""

    def __init__(self, norm: bool = False) -> None:
        super().__init__()
        self.front = nn.Identity()
        if norm:
            self.front = nn.Sequential(
                nn.Conv1d(1, 3, 2), nn.BatchNorm1d(3), nn.GELU(), nn.Flatten()
            )
        self.body = nn.Linear(12 if norm else 5, 8)
        self.fc = nn.Linear(8, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.body(self.front(x)).tanh())


def student(norm: bool = False) -> nn.Module:
    torch.manual_seed(0)
    return Net(norm).double()


def whole_batch(number: int, norm: bool = False, n: int = N) -> tuple[Tensor, Tensor]:
    draw = torch.Generator().manual_seed(number)
    shape = (n, 1, 5) if norm else (n, 5)
    x = torch.randn(*shape, generator=draw, dtype=torch.float64)
    return x, torch.randint(CLASSES, (n,), generator=draw)


def batch(number: int, norm: bool = False, n: int = N) -> tuple[Tensor, Tensor]:
    return own_part_of(whole_batch(number, norm, n))


def awake(teacher: reweigh.Teacher) -> reweigh.Teacher:
    draw = torch.Generator().manual_seed(7)
    for p in teacher.double().parameters():
        p.data += 0.3 * torch.randn(p.shape, generator=draw, dtype=torch.float64)
    return teacher


def interaction(net: nn.Module) -> reweigh.Teacher:
    return awake(reweigh.InteractionTeacher(net, layer="fc", num_classes=CLASSES))


def curve(net: nn.Module) -> reweigh.Teacher:
    torch.manual_seed(3)
    return awake(LossCurveTeacher(4))


def surface(net: nn.Module) -> reweigh.Teacher:
    features = [reweigh.InternalState(net, "fc"), reweigh.SurfaceFeatures("fc", CLASSES)]
    return awake(reweigh.LinearTeacher(features))


def agreement(net: nn.Module) -> reweigh.Teacher:
    return awake(reweigh.AgreementTeacher(net, layer="fc", num_classes=CLASSES))


def shaper(net: nn.Module) -> reweigh.Teacher:
    return awake(LossShaper("fc", CLASSES, plain_share=0.3))


def sgd(net: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(net.parameters(), lr=0.3, momentum=0.9, weight_decay=1e-3)


def adam(net: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.Adam(net.parameters(), lr=0.02)


def reweigher(
    make: Callable[[nn.Module], reweigh.Teacher] = interaction,
    optimizer: Callable[[nn.Module], torch.optim.Optimizer] = sgd,
    norm: bool = False,
    **options: Any,
) -> reweigh.Reweigher:
    net = sync_batch_norm(student(norm)) if norm else student()
    return reweigh.Reweigher(
        net, optimizer(net), make(net), trusted=lambda update: batch(1000 + update, norm, n=9),
        total_steps=60, **{"every": 4, "through": 2} | options,
    )  # fmt: skip


def flat(values: Any) -> Tensor:
    return torch.cat([v.detach().flatten() for v in values])


def state(held: reweigh.Reweigher) -> dict[str, Tensor]:
    teacher = held.teacher
    assert teacher is not None
    return {
        "theta": flat(held.student.module.parameters()),
        "buffers": flat([torch.zeros(1), *held.student.module.buffers()]),
        "omega": flat([torch.zeros(1), *teacher.parameters(), *teacher.buffers()]),
        "mean loss so far": held.clock.loss_sum,
    }


def meta_gradient(norm: bool = False, **options: Any) -> dict[str, Tensor]:
    """dω through three steps, nothing else."""
    held = reweigher(norm=norm, **{"every": None, "through": 3} | options)
    passes = options.get("accumulate", 1)
    for number in range(4 * passes):
        held.step(*batch(number, norm))
    return {"d omega": flat(held.meta_gradient(batch(99, norm, n=9)).values())}


def training(steps: int = 9, norm: bool = False, **options: Any) -> dict[str, Tensor]:
    """Steps with updates of the teacher between them."""
    held = reweigher(norm=norm, **options)
    told = []
    for number in range(steps):
        x, y = batch(number, norm)
        ids = own_part_of(torch.arange(N))
        outcome = held.step(x, y, ids=ids)
        told += [outcome.loss, outcome.figures.mean_loss, outcome.figures.effective_share]
    forward = held.engine is not None and held.engine.derivatives.kernels.forward_mode
    return state(held) | {
        "told": torch.stack(told),
        "forward mode": torch.tensor(float(forward), dtype=torch.float64),
    }


def outside(way: str) -> dict[str, Tensor]:
    """A loop that owns the backward, and clips."""
    held = reweigher(clip_norm=0.5)
    module = held.student.module
    for number in range(9):
        x, y = batch(number)
        held.optimizer.zero_grad()
        if way == "loss":
            held.loss(x, y).backward()
        else:
            w = held.weights(x, y)
            (w * F.cross_entropy(module(x), y, reduction="none")).sum().backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 0.5)
        held.optimizer.step()
        held.after_step()
    return state(held)


def alike_in_one() -> dict[str, Tensor]:
    """A loop that owns the backward; the weights of the last process's samples are all the same."""
    held = reweigher()
    for number in range(9):
        x, y = whole_batch(number)
        x[N // 2 :], y[N // 2 :] = x[-1].clone(), y[-1].clone()
        held.optimizer.zero_grad()
        held.loss(*own_part_of((x, y))).backward()
        held.optimizer.step()
        held.after_step()
    return state(held)


def flushed(accumulate: int) -> dict[str, Tensor]:
    """Steps of two passes each: complete ones of another's backward, or ours that end early."""
    held = reweigher(accumulate=accumulate, every=2, through=1)
    for number in range(8):
        if accumulate == 2:
            held.loss(*batch(number)).backward()
        else:
            held.step(*batch(number))
        if number % 2:
            held.flush()
            held.optimizer.zero_grad()
    return state(held)


def weights_of_the_whole() -> dict[str, Tensor]:
    """Normalised over all processes, in the order of the whole batch."""
    held = reweigher()
    return {"w": group.gathered(held.step(*batch(0)).weights)}


def differing_start() -> dict[str, Tensor]:
    """Students and teachers that begin otherwise are made the first process's."""
    net = student()
    teacher = interaction(net)
    with torch.no_grad():
        for p in (*net.parameters(), *teacher.parameters()):
            p.add_(group.rank())
    held = reweigh.Reweigher(net, sgd(net), teacher, trusted=batch(0))
    return state(held)


def partly(make: Any = None, **options: Any) -> reweigh.Reweigher:
    """Three steps past a layer that only the last process's samples use, and one that nobody's do."""
    torch.manual_seed(0)
    net = nn.ModuleDict({n: nn.Linear(5, CLASSES) for n in ("all", "some", "none")}).double()

    def losses(inside: Any, given: Any) -> Tensor:
        x, y, ids = given
        logits = inside["all"](x)
        late = ids == N - 1
        if late.any():
            logits = logits + late[:, None] * inside["some"](x)
        return F.cross_entropy(logits, y, reduction="none")

    teacher = None if make is None else make(net)
    held = reweigh.Reweigher(net, sgd(net), teacher, per_sample_loss=losses, **options)
    for number in range(3):
        held.step((*batch(number), own_part_of(torch.arange(N))))
    return held


def partly_used() -> dict[str, Tensor]:
    net = partly().student.module
    unused = net.get_submodule("none").weight.grad is None
    return {"theta": flat(net.parameters()), "unused": torch.tensor(unused)}


def partly_used_ahead() -> dict[str, Tensor]:
    def trusted(update: int) -> Any:
        return *batch(1000 + update), own_part_of(torch.arange(N))

    held = partly(curve, trusted=trusted, labels=lambda b: b[1], every=1, lookahead=True)
    assert held.teacher is not None
    theta, omega = held.student.module.parameters(), held.teacher.parameters()
    return {"theta": flat(theta), "omega": flat(omega)}


def in_turns() -> dict[str, Tensor]:
    """Accumulated passes of which each goes through a layer of its own."""
    torch.manual_seed(0)
    net = nn.ModuleDict({n: nn.Linear(5, CLASSES) for n in ("even", "odd")}).double()

    def losses(_: nn.Module, given: Any) -> Tensor:
        x, y, number = given
        return F.cross_entropy(net["odd" if number % 2 else "even"](x), y, reduction="none")

    held = reweigh.Reweigher(net, sgd(net), per_sample_loss=losses, accumulate=2)
    for number in range(4):
        held.step((*batch(number), number))
    return {"theta": flat(net.parameters())}


def hooked() -> dict[str, Any]:
    """Somebody's hook on one process only, which looks on: all compare, or none."""
    held = reweigher(every=None)
    if group.rank() == 0:
        held.optimizer.register_step_pre_hook(lambda optimizer, args, kwargs: None)
    for number in range(3):
        held.step(*batch(number))
    return state(held)


def not_finite() -> dict[str, Any]:
    """One sample's NaN stops all, with the same words."""
    held = reweigher()
    x, y = whole_batch(0)
    x[-1] = torch.nan
    try:
        held.step(*own_part_of((x, y)), ids=own_part_of(100 + torch.arange(N)))
    except DivergedError as error:
        return {"said": str(error)}
    return {"said": "nothing"}


def volume() -> dict[str, float]:
    """Bytes of 20 steps and one update at B = 2, in those of 20 gradients."""
    held = reweigher(every=20)
    held.step(*batch(0))  # prepares
    for number in range(1, 20):
        held.step(*batch(number))
    before = traffic.bytes
    for number in range(20):
        held.step(*batch(number))
    p = sum(t.nbytes for t in held.student.module.parameters())
    return {"gradients": (traffic.bytes - before) / p}


def translating() -> dict[str, Any]:
    """The loss of held-out pairs, and what is written for them, in an odd number of batches."""
    torch.manual_seed(3)
    student = Transformer(20, width=8, inner=8, heads=2, layers=(1, 1), dropout=0.0).double()
    rows = [[4 + (i + j) % 16 for j in range(2 + i)] for i in range(5)]
    pairs = Corpus(Ragged.of(rows), Ragged.of(rows[::-1]), np.arange(5))
    device = torch.device("cpu")
    loss, right = held_out_loss(student, pairs, 8, device)
    written = translations(student, pairs, Beam(2, 1.0), 16, device)
    return {"loss": torch.tensor(loss), "right": right, "written": written}


def plumbing() -> dict[str, Any]:
    """The small parts."""
    x = torch.arange(7.0)
    said = group.from_first(lambda: f"rank {group.rank()}")
    try:
        group.from_first(lambda: 1 // 0)
    except ZeroDivisionError:
        said += ", fails alike"
    with group.alone():
        by_itself = group.world()
    return {
        "gathered": group.gathered(own_part_of(x)),
        "any": group.any_of(group.rank() == group.world() - 1),
        "none": group.any_of(False),
        "said": said,
        "alone": by_itself,
    }


def _steps(**options: Any) -> Callable[[], Any]:
    return partial(training, **options)


SAME: dict[str, Callable[[], Any]] = {
    "meta-gradient, kept": partial(meta_gradient, trajectory="kept"),
    "meta-gradient, snapshots": partial(meta_gradient, trajectory="snapshots"),
    "meta-gradient, reversal": partial(meta_gradient, trajectory="reversal"),
    "meta-gradient, Adam": partial(meta_gradient, optimizer=adam),
    "meta-gradient, clipped": partial(meta_gradient, clip_norm=0.3),
    "meta-gradient, accumulated": partial(meta_gradient, accumulate=2),
    "meta-gradient, deeper": partial(meta_gradient, deeper=True),
    "meta-gradient, by count": partial(meta_gradient, make=curve),
    "meta-gradient, shaped loss": partial(meta_gradient, make=shaper),
    "meta-gradient, SyncBN": partial(meta_gradient, norm=True, trajectory="kept"),
    "meta-gradient, SyncBN, snapshots": partial(meta_gradient, norm=True, trajectory="snapshots"),
    "50 steps": _steps(steps=50, trajectory="kept"),
    "50 steps, SyncBN": _steps(steps=50, norm=True),
    "50 steps, Adam": _steps(steps=50, optimizer=adam, trajectory="snapshots"),
    "one step back, forward mode": _steps(through=1, trajectory="snapshots"),
    "one step back, SyncBN": _steps(through=1, norm=True, trajectory="snapshots"),
    "accumulated and clipped": _steps(steps=18, accumulate=2, clip_norm=0.3, trajectory="kept"),
    "accumulated, snapshots": _steps(steps=18, accumulate=2, trajectory="snapshots"),
    "finite differences": _steps(trajectory="finite"),
    "surface features": _steps(make=surface),
    "agreement": _steps(make=agreement),
    "deeper": _steps(deeper=True, trajectory="snapshots"),
    "look-ahead": _steps(make=curve, every=1, through=1, lookahead=True),
    "learning to reweight": _steps(make=lambda net: _Slopes(), every=1, through=1, lookahead=True),
    "self-paced": _steps(
        make=lambda net: SelfPacedTeacher(start_share=0.3, full_at=0.9, per_class=True)
    ),
    "outside, loss": partial(outside, "loss"),
    "outside, weights": partial(outside, "weights"),
    "outside, weights alike in one process": alike_in_one,
    "flushed, complete": partial(flushed, 2),
    "flushed, early": partial(flushed, 4),
    "posterior": _steps(
        make=lambda net: reweigh.PosteriorTeacher(layer="fc", num_classes=CLASSES).double()
    ),
    "weights": weights_of_the_whole,
    "differing start": differing_start,
    "partly used": partly_used,
    "partly used, look-ahead": partly_used_ahead,
    "in turns": in_turns,
    "not finite": not_finite,
    "hook on one": hooked,
    "translating": translating,
}
"""The same whatever the number of processes."""

CHECKS = SAME | {"volume": volume, "plumbing": plumbing}
