"""Recorded steps as plain containers of tensors and numbers, and back: for checkpoints.

A run that is stopped between two updates of the teacher holds steps that the next update needs.
Graphs are not saved: what they hold is recomputed from the snapshot, which gives the same numbers.
"""

import logging
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from reweigh.errors import CheckpointError
from reweigh.metagrad.rules import Share
from reweigh.metagrad.steps import Pass, Step
from reweigh.student.moment import Moment
from reweigh.student.seen import Progress, Seen
from reweigh.typing import Batch

if TYPE_CHECKING:
    from reweigh.metagrad.engine import Engine

log = logging.getLogger("reweigh")


def built(engine: "Engine") -> dict[str, Any]:
    """What recorded steps depend on beside themselves."""
    clip = engine.recursion.clip
    return {
        "trajectory": engine.trajectory,
        "deeper": engine.derivatives.deeper,
        "clip_norm": None if clip is None else clip.max_norm,
    }


def refuse_other(engine: "Engine", saved: dict[str, Any]) -> None:
    """Steps that were recorded by an engine built otherwise cannot be gone back over."""
    own = built(engine)
    if engine.trajectory == "auto" or "reversal" not in (engine.trajectory, saved["trajectory"]):
        own["trajectory"] = saved["trajectory"]  # any of them goes on from snapshots
    differ = [f"{k}={saved[k]!r} (here {own[k]!r})" for k in own if own[k] != saved[k]]
    if differ:
        raise CheckpointError(
            f"the saved state was made with {', '.join(differ)}: build the reweigher as it was"
        )


def pack(steps: list[Step]) -> list[dict[str, Any]] | None:
    """Plain containers; None, and a word, where batches are objects a checkpoint cannot hold."""
    if not all(_is_plain(one.batch) for step in steps for one in step.passes):
        log.warning("recorded batches are not plain containers and are left out of the checkpoint")
        return None
    return [
        {
            "passes": [_pack_pass(one) for one in step.passes],
            "theta": step.theta,
            "shares": [dict(vars(share)) for share in step.shares],
            "gradient": step.gradient,
            "scale": step.scale,
            "begins": step.begins,
            "ends": step.ends,
        }
        for step in steps
    ]


def unpack(packed: list[dict[str, Any]] | None) -> list[Step]:
    """The steps again, without graphs."""
    return [
        Step(
            passes=[_unpack_pass(one) for one in step["passes"]],
            theta=step["theta"],
            shares=[Share(**share) for share in step["shares"]],
            gradient=step["gradient"],
            scale=step["scale"],
            begins=step.get("begins"),
            ends=step.get("ends"),
        )
        for step in packed or []
    ]


def _pack_pass(one: Pass) -> dict[str, Any]:
    kind, enabled, dtype = one.moment.autocast
    moment = {
        "rng": one.moment.rng,
        "buffers": one.moment.buffers,
        "training": list(one.moment.training),
        "autocast": [kind, enabled, str(dtype).removeprefix("torch.")],
    }
    seen = {k: v for k, v in vars(one.seen).items() if k != "progress"}
    seen["states"] = dict(one.seen.states)
    seen["average"] = None if one.seen.average is None else dict(one.seen.average)
    progress = vars(one.seen.progress)
    return {
        "batch": _plain(one.batch),
        "weights": one.weights,
        "kept": one.kept,
        "moment": moment,
        "seen": seen,
        "progress": progress,
    }


def _unpack_pass(packed: dict[str, Any]) -> Pass:
    m = packed["moment"]
    kind, enabled, dtype = m["autocast"]
    moment = Moment(
        m["rng"],
        m["buffers"],
        tuple(m["training"]),
        (kind, enabled, getattr(torch, dtype)),
    )
    seen = Seen(**packed["seen"], progress=Progress(**packed["progress"]))
    return Pass(packed["batch"], moment, seen, packed["weights"], kept=packed["kept"])


def _plain(batch: Batch) -> Batch:
    """With dicts in place of other mappings, at any depth."""
    if isinstance(batch, Mapping):
        return {key: _plain(part) for key, part in batch.items()}
    return type(batch)(map(_plain, batch)) if type(batch) in (tuple, list) else batch


def _is_plain(batch: Batch) -> bool:
    if isinstance(batch, Mapping):
        return all(_is_plain(part) for part in batch.values())
    if type(batch) in (tuple, list):
        return all(_is_plain(part) for part in batch)
    return not is_dataclass(batch) and isinstance(batch, Tensor | int | float | str | bool | None)
