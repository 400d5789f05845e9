"""Ask before training, on the first batch, whether every derivative that will be needed exists.

Fused attention has no second derivative, cuDNN's recurrent layers neither, some backwards have no
forward-mode rule. Found at step 20 this costs a user an evening; found here, it costs a few passes.
"""

import logging
import re
from dataclasses import replace

import torch
from torch import Tensor

from reweigh.errors import UnsupportedError
from reweigh.metagrad.directional import Derivatives
from reweigh.metagrad.kernels import Kernels
from reweigh.metagrad.steps import Pass
from reweigh.typing import Params

log = logging.getLogger("reweigh")

LADDER = (
    Kernels(),
    Kernels(plain_attention=True),
    Kernels(plain_attention=True, plain_recurrence=True),
)


def preflight(derivatives: Derivatives, one: Pass, theta: Params, *, second: bool) -> int:
    """Choose kernels that work for this student, and say so. Returns the bytes of a kept graph.

    `second`: second backwards will be needed, not only forward-mode passes.
    """
    u = {name: torch.ones_like(t) for name, t in theta.items()}
    size = _second_order(derivatives, one, theta, u) if second else 0
    if not derivatives.deeper:
        _forward_mode(derivatives, one, theta, u)
    if derivatives.kernels != Kernels():
        log.info("replays run with %s; ordinary steps keep theirs", derivatives.kernels)
    return size


def _second_order(derivatives: Derivatives, one: Pass, theta: Params, u: Params) -> int:
    failure: RuntimeError | None = None
    for kernels in LADDER:
        derivatives.kernels = kernels
        try:
            with SavedBytes() as saved:
                derivatives.gradient(one, theta)
            _refuse_dead_ends(one)
            derivatives.pull(one, theta, u, want_theta=True, keep=False)
        except RuntimeError as error:
            one.graph, failure = None, error
            if not _is_missing_derivative(error):
                raise
        else:
            return saved.total
    raise _refusal(failure)


def _forward_mode(derivatives: Derivatives, one: Pass, theta: Params, u: Params) -> None:
    """Try dual numbers; without a forward-mode rule, a second backward does the same."""
    first = derivatives.kernels
    for kernels in LADDER[LADDER.index(first) :]:
        derivatives.kernels = kernels
        try:
            derivatives.pull(one, theta, u, want_theta=False, keep=False)
        except RuntimeError as error:
            if not _is_missing_derivative(error):
                raise
        else:
            return
    _second_order(derivatives, one, theta, u)
    derivatives.kernels = replace(derivatives.kernels, forward_mode=False)


def _refuse_dead_ends(one: Pass) -> None:
    """A backward marked @once_differentiable raises only where a gradient is asked *of* it; a
    gradient asked past it, as we do, silently misses all that went through it.
    """
    assert one.graph is not None
    found, todo = set[object](), [g.grad_fn for g in one.graph.gradient.values()]
    while todo:
        node = todo.pop()
        if node is None or node in found:
            continue
        if node.name() == "torch::autograd::Error":
            one.graph = None
            raise UnsupportedError(
                "the student uses an autograd function whose backward is marked "
                "@once_differentiable, so it has no second derivative: write that backward in "
                "differentiable operations, or choose trajectory='finite' (approximate)"
            )
        found.add(node)
        todo += [following for following, _ in node.next_functions]


def _is_missing_derivative(error: RuntimeError) -> bool:
    """Whether torch says that an operation lacks a derivative, and not that something else broke."""
    text = str(error)
    if isinstance(error, NotImplementedError):
        return True
    missing = r"not implemented|double backward|does not support|forward AD|Checkpointing is not"
    return bool(re.search(missing, text))


def _refusal(failure: RuntimeError | None) -> UnsupportedError:
    if "Checkpointing is not" in str(failure):
        return UnsupportedError(
            "the student uses gradient checkpointing that has no second derivative: call "
            "torch.utils.checkpoint.checkpoint(..., use_reentrant=False)"
        )
    if "torch.compile" in str(failure):
        return UnsupportedError(
            "the student was compiled in place (module.compile()), and compiled code has no second "
            "derivative: use through=1, or compile only what evaluates it"
        )
    named = re.search(r"(aten::\w+|'[\w:]+'|for \w+)", str(failure))
    operation = named.group(0) if named else str(failure).splitlines()[0]
    return UnsupportedError(
        f"the student uses {operation}, which has no second derivative in torch "
        f"{torch.__version__}: replace that layer, use through=1, or choose "
        "trajectory='finite' (approximate)"
    )


class SavedBytes:
    """Counts what a pass keeps for its backward, each storage once."""

    def __enter__(self) -> "SavedBytes":
        self.total, self._seen = 0, set[int]()
        self._hooks = torch.autograd.graph.saved_tensors_hooks(self._pack, lambda kept: kept)
        self._hooks.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._hooks.__exit__(*exc)

    def _pack(self, tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self._seen:
            self._seen.add(storage.data_ptr())
            self.total += storage.nbytes()
        return tensor
