"""Ask before training, on the first batch, whether every derivative that will be needed exists.

Fused attention has no second derivative, cuDNN's recurrent layers neither, some backwards have no
forward-mode rule, and some losses another slope in forward mode than in backward mode. Found at
step 20 this costs a user an evening, or is never found; found here, it costs a few passes.
"""

import re
from dataclasses import replace

import torch
from torch import Tensor
from torch.utils.checkpoint import CheckpointError

from reweigh.distributed.buckets import summed
from reweigh.distributed.group import any_of, total
from reweigh.errors import UnsupportedError
from reweigh.metagrad.directional import Derivatives
from reweigh.metagrad.kernels import Kernels
from reweigh.metagrad.steps import Pass
from reweigh.typing import Params

LADDER = tuple(
    replace(kernels, lean=lean)
    for lean in (True, False)
    for kernels in (
        Kernels(),
        Kernels(plain_attention=True),
        Kernels(plain_attention=True, plain_recurrence=True),
    )
)


def second_order(derivatives: Derivatives, one: Pass, theta: Params) -> int:
    """Choose kernels of which a second backward works. Returns the bytes of a kept graph."""
    u = {name: torch.ones_like(t) for name, t in theta.items()}
    failure: RuntimeError | None = None
    for kernels in LADDER:
        derivatives.kernels = kernels
        try:
            with SavedBytes() as saved:
                derivatives.gradient(one, theta)
            _refuse_dead_ends(one)
            derivatives.pull(one, theta, u, want_theta=True, keep=False)
        except RuntimeError as error:
            one.graph = None
            if not _is_missing_derivative(error):
                raise
            failure = error.with_traceback(None)  # its frames hold the graph
        else:
            return saved.total
    raise _refusal(failure)


def forward_mode(derivatives: Derivatives, one: Pass, theta: Params) -> None:
    """Try dual numbers; where they fail or tell another slope, a second backward does the same."""
    first = derivatives.kernels
    for kernels in (k for k in LADDER[LADDER.index(first) :] if k.lean == first.lean):
        derivatives.kernels = kernels
        try:
            differs = _slopes_differ(derivatives, one, theta)
        except torch.OutOfMemoryError:
            raise
        except RuntimeError:  # of whatever kind: torch's rules of forward mode fail in many ways
            continue
        if not any_of(differs):
            return
        break
    second_order(derivatives, one, theta)
    derivatives.kernels = replace(derivatives.kernels, forward_mode=False)


def _slopes_differ(derivatives: Derivatives, one: Pass, theta: Params) -> bool:
    r"""Whether dual numbers give another $v^\top s$ than $u^\top g$, with g the gradient of $v^\top\ell$.

    Dual numbers go through `no_grad`, past hooks and through a gradient taken inside the loss, all
    of which the student's own backward heeds: its step is the one to be differentiated. v and u are
    drawn; u leans on the gradient, so that neither side is near 0. Both sides are everybody's.
    """
    v = _drawn_like(one.seen.losses, 0).abs()  # (n,)
    found = derivatives.first_gradient(one, theta, v)
    g = summed({name: found.get(name, torch.zeros_like(t)) for name, t in theta.items()})
    size = torch.nn.utils.get_total_norm(g.values())
    width = size / sum(t.numel() for t in theta.values()) ** 0.5
    u = {name: d + width.to(d) * _drawn_like(d, i) for i, (name, d) in enumerate(g.items(), 1)}
    told = derivatives.pull(one, theta, u, want_theta=False, keep=False).levers[0]
    by_dual = total((v * told).sum())
    by_backward = sum((d * u[name]).sum() for name, d in g.items())
    allowed = _allowed(one, theta) * size * torch.nn.utils.get_total_norm(u.values())
    return bool((by_dual - by_backward).abs() > allowed)


def _allowed(one: Pass, theta: Params) -> float:
    """What rounding may make of two ways to the same number."""
    if one.moment.is_coarse(theta.values()):
        return 0.05
    return 1e-6 if one.seen.losses.dtype == torch.float64 else 1e-3


def _drawn_like(t: Tensor, seed: int) -> Tensor:
    """Normal numbers of that shape, always the same ones, from a generator of its own."""
    generator = torch.Generator(t.device).manual_seed(seed)
    return torch.randn(t.shape, generator=generator, device=t.device, dtype=t.dtype)


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
            raise DeadEnd
        found.add(node)
        todo += [following for following, _ in node.next_functions]


def _is_missing_derivative(error: RuntimeError) -> bool:
    """Whether torch says that an operation lacks a derivative, and not that something else broke."""
    if isinstance(error, NotImplementedError | CheckpointError | DeadEnd):
        return True
    missing = (
        "not implemented|double backward|does not support|forward AD|Checkpointing is not"
        "|setup_context"  # functorch transforms inside the student, and a function of ours
    )
    return bool(re.search(missing, str(error)))


class DeadEnd(RuntimeError):
    """A backward that ends the graph: marked @once_differentiable, by the student or by us."""


def _refusal(failure: RuntimeError | None) -> UnsupportedError:
    if isinstance(failure, DeadEnd):
        return UnsupportedError(
            "the student uses an autograd function whose backward is marked @once_differentiable, so "
            "it has no second derivative: write that backward in differentiable operations, or choose "
            "trajectory='finite' (approximate)"
        )
    if isinstance(failure, CheckpointError):
        return UnsupportedError(
            "gradient checkpointing recomputes something else in the second backward: leave it out, "
            "use through=1 with trajectory='snapshots', or choose trajectory='finite' (approximate)"
        )
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
        return tensor.detach()  # the tensor itself would be a cycle that no collector sees
