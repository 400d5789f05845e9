"""The engine and the reference, set side by side on the same student, data and random numbers."""

from collections.abc import Callable
from typing import Any

import torch
from tests.metagrad.brute_force import RULES, Unrolled
from tests.metagrad.students import Data, build, data_for, interaction
from torch import Tensor, nn

import reweigh

MakeTeacher = Callable[[nn.Module], reweigh.Teacher]


def groups_of(student: nn.Module) -> list[dict[str, Any]]:
    """Two parameter groups with settings of their own: biases move faster and never decay."""
    named = dict(student.named_parameters())
    biases = [p for n, p in named.items() if n.endswith("bias")]
    others = [p for n, p in named.items() if not n.endswith("bias")]
    return [{"params": others}, {"params": biases, "lr": 0.03, "weight_decay": 0.0}]


def by_engine(
    name: str,
    rule: str,
    data: Data,
    *,
    dtype: torch.dtype = torch.float64,
    make_teacher: MakeTeacher = interaction,
    groups: bool = False,
    autocast: torch.dtype | None = None,
    **options: Any,
) -> tuple[dict[str, Tensor], nn.Module, reweigh.Reweigher]:
    """What the package finds, and the student it trained."""
    student = build(name, dtype)
    teacher = make_teacher(student)
    optimizer = RULES[rule](groups_of(student) if groups else student.parameters())
    reweigher = reweigh.Reweigher(
        student, optimizer, teacher, trusted=data.trusted, every=None, **options
    )
    torch.manual_seed(11)
    for batch in data.batches:
        with torch.autocast("cpu", autocast or torch.bfloat16, enabled=autocast is not None):
            reweigher.step(*batch)
    with torch.autocast("cpu", autocast or torch.bfloat16, enabled=autocast is not None):
        return reweigher.meta_gradient(data.trusted), student, reweigher


def by_force(
    name: str,
    rule: str,
    data: Data,
    *,
    dtype: torch.dtype = torch.float64,
    make_teacher: MakeTeacher = interaction,
    groups: bool = False,
    **options: Any,
) -> tuple[dict[str, Tensor], Unrolled]:
    """What unrolled autograd finds."""
    student = build(name, dtype)
    teacher = make_teacher(student)
    optimizer = RULES[rule](groups_of(student) if groups else student.parameters())
    unrolled = Unrolled(student, optimizer, teacher, **options)
    torch.manual_seed(11)
    return unrolled.run(data.batches, data.trusted), unrolled


def compared(
    make_teacher: MakeTeacher, by_hand: dict[str, Any] | None = None, **options: Any
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """What the package finds and what unrolled autograd finds, for a teacher, through two steps.

    `by_hand` is for unrolled autograd alone.
    """
    data = data_of("conv+bn", 2)
    both: dict[str, Any] = {"through": 2, "make_teacher": make_teacher}
    found, _, _ = by_engine("conv+bn", "momentum", data, **both, **options)
    expected, _ = by_force("conv+bn", "momentum", data, **both, **(by_hand or {}))
    return found, expected


def allowed(rule: str) -> list[str]:
    """The trajectories that a rule allows."""
    reversible = rule in ("momentum", "momentum+decay+maximize", "dampening+decay")
    return ["kept", "snapshots", "reversal"] if reversible else ["kept", "snapshots"]


def data_of(name: str, through: int, **options: Any) -> Data:
    """Two steps before the window, so that optimizer states are warm; then the window."""
    return data_for(name, through + 2, **options)
