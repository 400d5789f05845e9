"""An unmodified `nn.Module` as the student: called at any θ, watched at named layers."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

from torch import Tensor, nn
from torch.func import functional_call

from reweigh.batch import batch_length, check_losses, find_labels
from reweigh.errors import UnsupportedError, UsageError
from reweigh.seen import Progress, Seen, Tap
from reweigh.typing import Batch, Params, PerSampleLoss

WRAPPERS = {
    "DistributedDataParallel": "its gradient hooks do not see a second backward, which makes the "
    "meta-gradient silently wrong; give the wrapped module itself (model.module)",
    "DataParallel": "it cannot be called at other parameters; give model.module",
    "FullyShardedDataParallel": "sharded parameters have no second backward",
    "FSDPModule": "sharded parameters have no second backward",
    "OptimizedModule": "compiled code has no second derivative; give the module itself "
    "(model._orig_mod) and compile only what evaluates it",
    "ScriptModule": "scripted modules cannot be called at other parameters",
}


def refuse_wrappers(module: nn.Module) -> None:
    """Refuse by name what cannot be differentiated through twice."""
    for cls in type(module).__mro__:
        if cls.__name__ in WRAPPERS:
            raise UnsupportedError(
                f"a student wrapped in {cls.__name__} is not supported: {WRAPPERS[cls.__name__]}"
            )


def find_layer(module: nn.Module, name: str) -> nn.Module:
    """The submodule of that name; an unknown name is answered with the nearest ones."""
    layers = dict(module.named_modules())
    if name in layers and name:
        return layers[name]
    near = get_close_matches(name, list(layers), n=3, cutoff=0.3)
    hint = f"did you mean {', '.join(near)}?" if near else "see student.named_modules()"
    raise UsageError(f"the student has no layer named {name!r}; {hint}")


class _LossOf(nn.Module):
    """`per_sample_loss` as a module, so that `functional_call` reaches the student inside."""

    def __init__(self, student: nn.Module, per_sample_loss: PerSampleLoss) -> None:
        super().__init__()
        self.student = student
        self.per_sample_loss = per_sample_loss

    def forward(self, batch: Batch) -> Tensor:
        return self.per_sample_loss(self.student, batch)


class Student:
    """φ_d ∘ φ_f with its loss: what a batch looks like from inside, at the present θ or another."""

    def __init__(
        self, module: nn.Module, per_sample_loss: PerSampleLoss, taps: Iterable[Tap] = ()
    ) -> None:
        refuse_wrappers(module)
        self.module = module
        self.taps = tuple(taps)
        self._loss = _LossOf(module, per_sample_loss)
        for tap in self.taps:
            find_layer(module, tap.layer)

    def look(
        self,
        batch: Batch,
        progress: Progress,
        *,
        at: Params | None = None,
        buffers: Params | None = None,
        ids: Tensor | None = None,
    ) -> Seen:
        """One forward pass, at θ = `at` (default: the present parameters).

        With `buffers`, the pass reads and writes those instead of the student's own.
        """
        states: dict[str, Tensor] = {}
        with self._tapped(states, batch):
            if at is None and buffers is None:
                losses = self._loss(batch)
            else:
                replaced = {f"student.{k}": v for k, v in {**(at or {}), **(buffers or {})}.items()}
                losses = functional_call(self._loss, replaced, (batch,))
        self._check_taps(states)
        losses = check_losses(losses, batch)
        return Seen(losses, find_labels(batch), states, progress, ids)

    def losses(self, batch: Batch, at: Params, buffers: Params) -> Tensor:
        """Only the losses at θ = `at`, (n,)."""
        replaced = {f"student.{k}": v for k, v in {**at, **buffers}.items()}
        return functional_call(self._loss, replaced, (batch,))

    @contextmanager
    def _tapped(self, states: dict[str, Tensor], batch: Batch) -> Iterator[None]:
        """Hooks for the length of one pass: the student carries none before or after."""
        n = batch_length(batch)
        handles = []
        try:
            for tap in self.taps:
                layer = find_layer(self.module, tap.layer)
                handles.append(layer.register_forward_hook(_reader(tap, states, n)))
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _check_taps(self, states: dict[str, Tensor]) -> None:
        for tap in self.taps:
            if tap.key not in states:
                raise UsageError(
                    f"layer {tap.layer!r} exists but did not run in the forward pass, so the "
                    "teacher cannot see it: name a layer that the loss goes through"
                )


def _reader(
    tap: Tap, states: dict[str, Tensor], n: int
) -> Callable[[nn.Module, tuple[object, ...], object], None]:
    def read(layer: nn.Module, args: tuple[object, ...], output: object) -> None:
        value = (args[0] if args else None) if tap.side == "input" else output
        if not isinstance(value, Tensor) or value.ndim == 0 or value.shape[0] != n:
            met = tuple(value.shape) if isinstance(value, Tensor) else type(value).__name__
            raise UsageError(
                f"the {tap.side} of layer {tap.layer!r} is {met}, but a tensor whose first "
                f"dimension is the batch ({n}) is needed: choose another layer"
            )
        states[tap.key] = tap.reduce(value)

    return read
